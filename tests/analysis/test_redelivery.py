"""B4: when a record was delivered again."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.history import History, ns
from analysis.test_rules_reading import hand_over, restarted
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_it_lasts_from_the_first_delivery_to_the_last(spark: SparkSession, tmp_path: Path) -> None:
    """B4: record 20 was delivered at 5.01 s, and by the next process at 6.3 s."""
    history = History(records=50)
    history.commit(20, 5.4)
    restarted(history, 6.0, found=20)
    history.read(20, 6.3, incarnation=1)
    hand_over(history, 22)
    (row,) = asking(spark, tmp_path, "redelivery")(history)
    assert (row["offset"], row["deliveries"], row["began"], row["ended"]) == (20, 2, ns(5.01), ns(6.3))
