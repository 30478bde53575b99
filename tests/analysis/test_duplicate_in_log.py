"""A2: the second place that an acknowledgement names."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.history import History
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.proves("duplicate_in_log", "fires")
def test_an_acknowledgement_that_names_the_later_place_tells_of_a_duplicate(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A2: the record was seen at 20 alone, and acknowledged at 50."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, offset=50)
    rows = asking(spark, tmp_path, "duplicate_in_log")(history)
    assert [(row["seq"], row["offset"], row["other_offset"]) for row in rows] == [(20, 20, 50)]
