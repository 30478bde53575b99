"""B3: from which position on a group is owed what it commits past."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.history import History
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.proves("commit_skip", "near miss")
def test_the_record_at_the_position_it_began_at_is_owed(spark: SparkSession, tmp_path: Path) -> None:
    """Offset 0 was never given: no skip of a group that found 1, and one of a group that found 0 or nothing."""
    asked = asking(spark, tmp_path, "commit_skip")
    history = History(records=50)
    history.drop("reads", offset=0)
    history.commit(50, 20.4)
    for found, skipped in ((1, []), (0, [(0, "violation")]), (None, [(0, "violation")])):
        history.change("fetched", {}, offset=found)
        assert [(row["offset"], row["severity"]) for row in asked(history)] == skipped, found


@pytest.mark.proves("commit_skip", "no evidence")
def test_a_member_that_sought_leaves_it_open(spark: SparkSession, tmp_path: Path) -> None:
    """B3 without the evidence: offset 21 was never given, but a member chose its own place in that partition."""
    history = History(records=50)
    history.drop("reads", offset=21)
    history.commit(50, 20.4)
    history.add("seeks", offset=22, at=5.7)
    rows = asking(spark, tmp_path, "commit_skip")(history)
    assert [(row["offset"], row["severity"]) for row in rows] == [(21, "unproven")]
