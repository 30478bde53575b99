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


def test_a_term_without_an_answer_is_not_given_the_answer_of_a_later_one(spark: SparkSession, tmp_path: Path) -> None:
    """B4: record 20 is delivered again in a term whose own answer was not recorded.

    The next term's answer comes after the commit of 40. It says nothing about the commits that the earlier term found.
    """
    history = History(records=50)
    history.commit(40, 15.5)
    for assignment, at in ((1, 6.0), (2, 16.0)):
        history.add("assignments", at=at - 0.1, kind="revoke", assignment=assignment - 1)
        history.add("assignments", at=at, assignment=assignment)
    history.add("fetched", offset=40, invoked=16.1, completed=16.2)
    history.read(20, 6.3, assignment=1)
    (row,) = asking(spark, tmp_path, "redelivery")(history)
    assert (row["offset"], row["severity"], row["committed"]) == (20, "information", None)
