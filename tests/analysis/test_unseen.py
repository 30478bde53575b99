"""A5 of groups that commit automatically: what a killed process ran ahead of is told by B3, and by nobody twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking, reads_of
from analysis.history import History
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
    history.add("seeks", offset=40, at=3.0)
    assert [(row["offset"], row["severity"]) for row in asked(history)] == [(21, "unproven"), (22, "unproven")]


@pytest.mark.proves("unseen", "near miss")
def test_who_finds_a_committed_offset_is_owed_what_lies_beyond_it(spark: SparkSession, tmp_path: Path) -> None:
    """The record at the committed offset is owed, whenever it was sent; the one before it is not."""
    asked = asking(spark, tmp_path, "unseen")
    history = History(records=50)
    for offset in (0, 1):
        history.drop("reads", offset=offset)
    history.rows["assignments"].clear()
    history.add("assignments", at=5)
    history.rows["fetched"].clear()
    history.add("fetched", offset=1, invoked=5.1, completed=5.2)
    assert [(row["offset"], row["severity"]) for row in asked(history)] == [(1, "violation")]
