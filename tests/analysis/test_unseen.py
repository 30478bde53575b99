"""A5 of groups that commit automatically: what a killed process ran ahead of is told by B3, and by nobody twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking, reads_of
from analysis.history import History, ns
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.proves("unseen", "near miss")
def test_automatic_commits_excuse_only_what_lies_below_them(spark: SparkSession, tmp_path: Path) -> None:
    """Offset 21 is below the commit of a killed process and 22 is not; a seek leaves both open.

    The process read up to 20, and its successor goes on at 23.
    """
    asked = asking(spark, tmp_path, "unseen")
    history = History(records=50)
    for offset in (21, 22):
        history.drop("reads", offset=offset)
    history.commit(22, 6.1, kind="auto")
    history.drop("ends", probe="reader")
    history.worker("reader", 1, started=6.2, kind="consume", group="readers", isolation="read_committed", commit="auto")
    history.add("assignments", at=6.4, incarnation=1)
    reads_of(history, 23, incarnation=1)
    assert [(row["offset"], row["severity"]) for row in asked(history)] == [(22, "unproven")]
    history.add("seeks", offset=16, at=3.0)
    assert [(row["offset"], row["severity"]) for row in asked(history)] == [(21, "unproven"), (22, "unproven")]


@pytest.mark.proves("unseen", "near miss")
def test_who_gets_a_partition_is_owed_what_is_sent_from_then_on(spark: SparkSession, tmp_path: Path) -> None:
    """Sent at the very moment of the assignment is owed, a nanosecond earlier is not."""
    asked = asking(spark, tmp_path, "unseen")
    history = History(records=50)
    history.drop("reads", offset=0)
    history.rows["assignments"].clear()
    history.add("assignments", at=-5)
    history.rows["fetched"].clear()
    history.add("fetched", offset=0, invoked=-4.999, completed=-4.998)
    assert [(row["offset"], row["severity"]) for row in asked(history)] == [(0, "violation")]
    history.rows["assignments"][0]["at"] = ns(-5) + 1
    assert asked(history) == []
