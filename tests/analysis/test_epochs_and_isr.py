"""A13 and A16: the leaders' epochs along a log, and acknowledgements while too few replicas were in sync."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking, glances
from analysis.history import History, Row, ns
from analysis.ways import finding, told

from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


def with_epochs() -> History:
    """Records from offset 25 on were written by the leader of epoch 4, from 10 on by that of 3, those before by 2."""
    history = History(records=50)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 2 + (row["offset"] >= 10) + (row["offset"] >= 25)})
    return history


@pytest.mark.proves("leader_epoch_regression", "no evidence")
@pytest.mark.proves("leader_epoch_regression", "near miss")
def test_epochs_that_go_up_along_the_log_are_right(judge: Judge) -> None:
    """Near miss of A13; a record whose epoch is unknown says nothing."""
    history = with_epochs()
    history.change("reads", {"offset": 30}, leader_epoch=None)
    verdict = judge(history)
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)


@pytest.mark.proves("leader_epoch_regression", "fires")
@pytest.mark.parametrize("unclean", [False, True])
def test_a_record_of_an_earlier_leader_behind_a_later_one_is_told(judge: Judge, unclean: bool) -> None:  # noqa: FBT001
    """A13: the record at 30 is of epoch 3, that before it of epoch 4; allowed where an unclean election was seen."""
    history = with_epochs()
    history.topic["config"]["unclean.leader.election.enable"] = True
    history.change("reads", {"offset": 30}, leader_epoch=3)
    if unclean:
        history.elect_uncleanly(12)
        history.each("audit", lambda row: row | ({"leader_epoch": 5} if row["offset"] >= 28 else {}))
    verdict = judge(history)
    found = told(verdict, "allowed" if unclean else "violation")
    assert found == {"leader_epoch_regression": 21 if unclean else 1}, "all that was read of the log that is gone"
    (row,) = [row for row in finding(verdict, "leader_epoch_regression").evidence if row["offset"] == 30]
    assert {"before": 29, "before_epoch": 5 if unclean else 4, "leader_epoch": 3}.items() <= row.items()


def thin(history: History, **topic: object) -> History:
    """From 8 s until 12 s every broker named one replica in sync."""
    history.topic["config"] |= topic

    def short(row: Row) -> Row:
        return row | ({"isr": [1]} if ns(8) <= row["at"] <= ns(12) else {})

    history.each("partitions", short)
    return history


@pytest.mark.proves("ack_below_min_isr", "fires")
def test_acknowledgements_below_min_isr_are_suspicious(judge: Judge) -> None:
    """A16: min.insync.replicas is 2; the eight records from 8 s on that were acknowledged before 12 s: information."""
    verdict = judge(thin(History(records=50)))
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)
    (row,) = finding(verdict, "ack_below_min_isr").evidence
    assert {"min_isr": 2, "isr": 1, "acknowledged": 8, "first": 26, "last": 33}.items() <= row.items()


@pytest.mark.proves("ack_below_min_isr", "no evidence")
def test_one_broker_that_names_enough_ends_the_suspicion(judge: Judge) -> None:
    """Near misses of A16: every record lies beside a sample that names two, or one replica is enough."""
    history = thin(History(records=50))
    for number in range(80):
        at = 8 + number / 20
        history.add("partitions", at=at, asked=2, leader=1, leader_epoch=3, replicas=[0, 1, 2], isr=[0, 1])
    assert "ack_below_min_isr" not in told(judge(history), "information")


@pytest.mark.proves("ack_below_min_isr", "near miss")
def test_a_topic_that_asks_for_one_replica_is_not_suspicious(judge: Judge) -> None:
    """Near miss of A16: min.insync.replicas is 1."""
    assert "ack_below_min_isr" not in told(
        judge(thin(History(records=50), **{"min.insync.replicas": 1})), "information"
    )


def test_acks_1_asks_for_no_replica(judge: Judge) -> None:
    """Near miss of A16: only acks=all is refused when too few replicas are in sync."""
    history = thin(History(records=50, acks=1, idempotent=False))
    assert "ack_below_min_isr" not in told(judge(history), "information")


def test_the_samples_at_both_ends_belong_to_the_stretch(spark: SparkSession, tmp_path: Path) -> None:
    """A16: a record sent at the first sample that names too few, and one acknowledged at the last, are inside."""
    history = thin(History(records=50))
    history.change("sends", {"seq": 33}, completed=ns(12))
    (row,) = asking(spark, tmp_path, "ack_below_min_isr")(history)
    assert {"acknowledged": 8, "first": 26, "last": 33, "samples": 21}.items() <= row.items()


def test_a_topic_that_nobody_wrote_to_is_not_glanced_at(tmp_path: Path) -> None:
    """Near miss of A16: the replicas of a topic that the scenario does not name may be as few as they like."""
    history = History(records=50)
    history.add("partitions", at=3, asked=0, topic="others", leader=1, leader_epoch=3, replicas=[1], isr=[1])
    assert not glances(tmp_path, "ack_below_min_isr", history)


@pytest.mark.proves("ack_below_min_isr", "no evidence")
@pytest.mark.parametrize(
    ("asked", "since", "until", "severity"),
    [
        ((0, 1, 2), 4, 16, "unproven"), ((0, 1, 2), 8, 16, "information"), ((0, 1, 2), 4, 14, "information"),
        ((0, 2), 4, 16, "information"),
    ],
    ids=["for long", "begun lately", "ended soon", "leader not asked"],
)  # fmt: skip
def test_a_leader_that_names_too_few_for_long_leaves_it_open(
    spark: SparkSession, tmp_path: Path, asked: tuple[int, ...], since: int, until: int, severity: str
) -> None:
    """A16: one record, sent at 10 s. Broker 1 leads, and what it says of itself does not lag for five seconds."""
    history = History()
    history.flow(0, 10)
    rows, history.rows["partitions"] = history.rows["partitions"], []
    for row in rows:
        isr = {"isr": [1]} if ns(since) <= row["at"] < ns(until) else {}
        history.rows["partitions"] += [row | {"asked": broker} | isr for broker in asked]
    (row,) = asking(spark, tmp_path, "ack_below_min_isr")(history)
    assert (row["severity"], row["acknowledged"]) == (severity, 1)
