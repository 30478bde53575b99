"""Where logs end: what leaders told, against what clients had been shown (A14) and what was left of it (A15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking
from analysis.history import History, ns
from analysis.ways import finding, told

from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


def leads(history: History, at: float, end: int, log_end: int | None = None, broker: int = 1, epoch: int = 3) -> None:
    """A sample of a broker that holds itself to lead: the end it tells, and that of its log (the same if not said)."""
    held = end if log_end is None else log_end
    history.add("partitions", at=at, asked=broker, leader=broker, leader_epoch=epoch, replicas=[0, 1, 2], isr=[0, 1, 2])
    history.add("offsets", at=at + 0.01, asked=broker, leader=True, log_start=0, high_watermark=end, log_end=held)


def sampled(**topic: object) -> History:
    """A run of 50 records, one every half second, whose first leader was always seen to be right.

    Record 30 is due at 10 s; the last one, 49, at 19.5 s.
    """
    history = History(records=50)
    history.topic["config"] |= topic
    for number in range(50):
        leads(history, -4.9 + number / 2, number + 1)
    return history


@pytest.mark.proves("truncation_after_ack", "near miss")
@pytest.mark.proves("end_offset_regression", "near miss")
def test_a_leader_that_keeps_up_is_right(judge: Judge) -> None:
    """Near miss of A14 and A15: the end is always one past the last record that was acknowledged."""
    verdict = judge(sampled())
    assert (verdict.verdict, told(verdict)) == (Outcome.PASS, {})


@pytest.mark.proves("end_offset_regression", "fires")
def test_an_end_that_went_back_is_a_violation(judge: Judge) -> None:
    """A14: record 30 had been acknowledged and delivered, and the new leader tells that its log ends at 30.

    The leader's log does hold the record, so nothing else is told.
    """
    history = sampled()
    leads(history, 10.4, 30, log_end=31, broker=2, epoch=4)
    leads(history, 10.45, 29, log_end=31, broker=2, epoch=4)
    verdict = judge(history)
    assert told(verdict) == {"end_offset_regression": 1}
    (row,) = finding(verdict, "end_offset_regression").evidence
    assert {"leader": 2, "leader_epoch": 4, "offset": 30, "high_watermark": 29, "samples": 2}.items() <= row.items()
    assert verdict.verdict is Outcome.VIOLATION


@pytest.mark.proves("truncation_after_ack", "fires")
def test_a_log_that_ends_before_an_acknowledged_record_was_cut_back(judge: Judge) -> None:
    """A15: the new leader's log ends at 30, behind record 30; told once, although the end it tells went back, too."""
    history = sampled()
    leads(history, 10.4, 30, broker=2, epoch=4)
    verdict = judge(history)
    assert told(verdict) == {"truncation_after_ack": 1}
    (row,) = finding(verdict, "truncation_after_ack").evidence
    assert {"leader": 2, "leader_epoch": 4, "offset": 30, "log_end": 30, "samples": 1}.items() <= row.items()
    assert verdict.verdict is Outcome.VIOLATION


def test_the_furthest_that_was_shown_and_the_lowest_end_are_told(spark: SparkSession, tmp_path: Path) -> None:
    """A14 and A15: three answers of one leader, at 10.41 s, 10.91 s and 11.41 s: one row of each rule, until then."""
    history = sampled()
    for at, end in ((10.4, 30), (10.9, 29), (11.4, 30)):
        leads(history, at, end, broker=2, epoch=4)
    (row,) = asking(spark, tmp_path / "cut", "truncation_after_ack")(history)
    assert {"offset": 32, "log_end": 29, "samples": 3, "began": ns(10.01), "ended": ns(11.41)}.items() <= row.items()
    history.each("offsets", lambda row: row | ({"log_end": 50} if row["asked"] == 2 else {}))
    (row,) = asking(spark, tmp_path / "told", "end_offset_regression")(history)
    assert {"offset": 32, "high_watermark": 29, "samples": 3, "ended": ns(11.41)}.items() <= row.items()


def test_a_cut_is_allowed_where_an_unclean_election_was(judge: Judge) -> None:
    """A14 and A15 with an unclean election that was seen: told, and not held against the cluster."""
    history = sampled()
    history.elect_uncleanly(9)
    leads(history, 10.4, 30, broker=2, epoch=5)
    leads(history, 10.45, 30, log_end=31, broker=2, epoch=5)
    verdict = judge(history)
    assert told(verdict, "allowed") == {"end_offset_regression": 1, "truncation_after_ack": 1}
    assert verdict.verdict is Outcome.PASS


def test_a_leader_that_was_deposed_and_does_not_know_it_is_not_wrong(judge: Judge) -> None:
    """Near miss: broker 1 was cut off at 9 s; it answers as the leader of epoch 3 while broker 2 leads on in epoch 4.

    Broker 2 is named only seconds after it took over, because nobody could ask it before.
    """
    history = sampled()
    for table in ("offsets", "partitions"):
        history.rows[table] = [row for row in history.rows[table] if row["asked"] == 0 or row["at"] < 1_009_000_000_000]
    leads(history, 12.0, 28)
    leads(history, 14.0, 28)
    leads(history, 13.0, 36, broker=2, epoch=4)
    assert told(judge(history)) == {}


def test_what_was_shown_only_after_the_leader_was_asked_does_not_count(judge: Judge) -> None:
    """Near miss: record 30 was acknowledged at 10.005 s; the leader was asked at 10 s and answered at 10.01 s."""
    history = sampled()
    leads(history, 10.0, 30)
    assert told(judge(history)) == {}


@pytest.mark.proves("truncation_after_ack", "no evidence")
@pytest.mark.proves("end_offset_regression", "no evidence")
def test_a_leader_whose_own_view_is_unknown_is_not_judged(judge: Judge) -> None:
    """Evidence missing: nothing says in which epoch the broker answered, nor when it was asked."""
    history = sampled()
    history.add("offsets", at=10.4, asked=2, leader=True, log_start=0, high_watermark=20, log_end=20)
    assert told(judge(history)) == {}


@pytest.mark.parametrize("read", [False, True])
def test_acks_1_promises_nothing_until_a_consumer_had_it(judge: Judge, read: bool) -> None:  # noqa: FBT001
    """With acks=1 the leader alone had the record, and may lose it; what a consumer was given was held by all."""
    history = sampled()
    history.change("incarnations", {"probe": "writer"}, acks=1, idempotent=False)
    if not read:
        history.drop("reads", offset=30)
        history.drop("audit", offset=30)
    history.rows["reads"] = [row for row in history.rows["reads"] if row["offset"] <= 30]
    leads(history, 10.4, 30, broker=2, epoch=4)
    assert told(judge(history), "violation").get("truncation_after_ack", 0) == int(read)


def test_a_new_leader_may_not_know_its_end_yet(judge: Judge) -> None:
    """Near miss: it answers that the offset is not available (KIP-207), and its log is complete."""
    history = sampled()
    leads(history, 10.4, 31, broker=2, epoch=4)
    history.change("offsets", {"asked": 2}, high_watermark=None)
    assert told(judge(history)) == {}


def test_a_followers_log_may_end_anywhere(judge: Judge) -> None:
    """Near miss of A15: a replica that does not lead is behind."""
    history = sampled()
    history.add("partitions", at=10.4, asked=2, leader=1, leader_epoch=3, replicas=[0, 1, 2], isr=[0, 1])
    history.add("offsets", at=10.41, asked=2, leader=False, log_start=0, log_end=12)
    assert told(judge(history)) == {}
