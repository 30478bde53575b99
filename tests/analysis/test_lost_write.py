"""A3: acknowledged records that readers passed and nobody had, where no audit can say more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking, glances
from analysis.history import History, ns
from analysis.ways import finding, told

from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


def unaudited(**settings: object) -> History:
    """Record 21 was acknowledged, nobody was given it, and the audit broke off before it read anything."""
    history = History(records=50)
    history.change("incarnations", {"probe": "writer"}, **settings)
    history.drop("reads", offset=21)
    history.rows["audit"].clear()
    history.each("audit_ranges", lambda row: row | {"complete": False, "why": "timed out"})
    return history


@pytest.mark.proves("lost_write", "fires")
def test_an_acknowledged_record_that_a_reader_passed_is_lost(judge: Judge) -> None:
    """A3: offset 20 was followed by 22 and nobody ever had 21: told once, although no audit says anything."""
    verdict = judge(unaudited())
    assert told(verdict) == {"lost_write": 1}
    (row,) = finding(verdict, "lost_write").evidence
    assert {"seq": 21, "offset": 21, "before": 20, "next": 22, "acks": -1}.items() <= row.items()
    assert verdict.verdict is Outcome.VIOLATION


@pytest.mark.proves("lost_write", "near miss")
def test_a_complete_audit_knows_better(judge: Judge) -> None:
    """Near miss: the same record is not in the log that was audited completely: A4 says so, and A3 does not."""
    history = History(records=50)
    history.drop("reads", offset=21)
    history.drop("audit", offset=21)
    assert told(judge(history)) == {"lost": 1}


def test_one_that_was_passed_counts_though_another_was_not(spark: SparkSession, tmp_path: Path) -> None:
    """A3: nobody had 21 nor the last one, 49, beyond which nobody read."""
    history = unaudited()
    history.drop("reads", offset=49)
    assert [row["seq"] for row in asking(spark, tmp_path, "lost_write")(history)] == [21]


def test_an_audit_at_one_level_alone_is_not_complete(spark: SparkSession, tmp_path: Path) -> None:
    """A3: the audit at read_committed is complete, that at read_uncommitted broke off, or there was none."""
    asked = asking(spark, tmp_path, "lost_write")
    history = unaudited()
    history.change("audit_ranges", {"isolation": "read_committed"}, complete=True)
    assert [row["seq"] for row in asked(history)] == [21]
    history.drop("audit_ranges", isolation="read_uncommitted")
    assert [row["seq"] for row in asked(history)] == [21]


@pytest.mark.proves("lost_write", "no evidence")
def test_what_lies_beyond_the_last_delivery_may_still_come(judge: Judge) -> None:
    """Near miss: the readers have not come so far; and what lies before their begin was never asked for."""
    history = unaudited()
    history.change("fetched", {}, offset=31)
    history.rows["reads"] = [row for row in history.rows["reads"] if row["offset"] > 30 and row["offset"] < 45]
    assert told(judge(history)) == {}


def test_a_seek_passes_nothing(judge: Judge) -> None:
    """Near miss: the consumer sought past it, which is its own choice."""
    history = unaudited()
    history.add("seeks", offset=22, at=(21 / 2 - 5) + 0.2)
    assert told(judge(history)) == {}


def test_what_was_passed_before_it_was_sent_is_not_lost(judge: Judge) -> None:
    """Near miss: readers had passed the offset before the record was sent: A11 tells that the log went back."""
    history = unaudited()
    history.change("sends", {"seq": 21}, scheduled=ns(18), invoked=ns(18), completed=ns(18.1))
    assert told(judge(history)) == {"stale_append": 1}


def test_what_anybody_saw_is_not_lost(spark: SparkSession, tmp_path: Path) -> None:
    """Near misses: another consumer was given it, and then the audit had it before it broke off."""
    asked = asking(spark, tmp_path, "lost_write")
    history = unaudited()
    history.worker("other", kind="consume", isolation="read_committed", commit="none")
    history.read(21, 6, probe="other", group=None)
    assert asked(history) == []
    history.drop("reads", probe="other")
    history.audit(21)
    assert asked(history) == []


def test_an_offset_at_which_something_else_was_given_was_not_passed(spark: SparkSession, tmp_path: Path) -> None:
    """A3: the consumer was given another record at 21, then the one at 23: it passed 22 alone."""
    history = unaudited()
    history.send(60, 5.4, offset=None, outcome="info")
    history.change("reads", {"offset": 22}, offset=21, seq=60)
    assert [row["seq"] for row in asking(spark, tmp_path, "lost_write")(history)] == [22]


def test_retention_is_no_loss(judge: Judge) -> None:
    """Near miss: the log start moved past it."""
    history = unaudited()
    history.each("offsets", lambda row: row | {"log_start": 22})
    assert told(judge(history)) == {}


def test_a_compacted_topic_is_not_judged(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: compaction removes records of a key."""
    history = unaudited()
    history.topic["config"]["cleanup.policy"] = "compact"
    assert asking(spark, tmp_path, "lost_write")(history) == []


def test_what_was_acknowledged_nowhere_was_passed_by_nobody(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: the acknowledgement names no offset: neither a glance nor the check has anything to say."""
    history = unaudited()
    history.change("sends", {"seq": 21}, offset=None)
    assert not glances(tmp_path, "lost_write", history)
    assert asking(spark, tmp_path, "lost_write")(history) == []


def test_acks_1_allows_it(judge: Judge) -> None:
    """A3 with acks=1: the leader alone had it, and another was elected: told as allowed."""
    history = unaudited(acks=1, idempotent=False)
    history.elect(6.0)
    verdict = judge(history)
    assert told(verdict, "allowed") == {"lost_write": 1}
    assert told(verdict, "violation") == {}


@pytest.mark.proves("lost_write", "fires")
@pytest.mark.parametrize("latest", [False, True])
def test_what_a_group_was_given_first_is_not_where_its_debt_begins(
    spark: SparkSession, tmp_path: Path, *, latest: bool
) -> None:
    """A3: the first ten records were given to nobody, though the group was there before them, at the log's start.

    Near miss: it begins at the end, and had been told that this was 10.
    """
    history = unaudited()
    history.read(21, 21 / 2 - 5 + 0.01)
    history.rows["reads"] = sorted(
        (row for row in history.rows["reads"] if row["offset"] >= 10), key=lambda row: int(row["offset"])
    )
    for number, row in enumerate(history.rows["reads"]):
        row |= {"n": number, "poll": number}
    if latest:
        history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": "latest"}
        history.add("seeks", offset=10, at=-0.1, kind="reset")
    found = asking(spark, tmp_path, "lost_write")(history)
    expected = [] if latest else [(offset, -1, 10) for offset in range(10)]
    assert [(row["offset"], row["before"], row["next"]) for row in found] == expected
