"""A4: losses of which more is known than that they are one."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.history import History, ns
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_what_had_no_answer_was_gone_after_it_was_read(spark: SparkSession, tmp_path: Path) -> None:
    """A4: from when it was sent until it was acknowledged, or, without an answer, until a reader had it."""
    history = History(records=50)
    history.drop("audit", offset=20)
    history.change("sends", {"seq": 20}, outcome="info", offset=None, completed=None)
    (row,) = asking(spark, tmp_path, "lost")(history)
    assert (row["began"], row["ended"]) == (ns(5.0), ns(5.01))


@pytest.mark.proves("lost", "fires")
def test_a_record_at_a_known_offset_is_lost_though_others_were_deleted(spark: SparkSession, tmp_path: Path) -> None:
    """A4: the log's start has moved to 1, and the record was acknowledged at 20, where nothing may delete it.

    Of the one before the start it is open who deleted it, as no broker reported the topic's settings.
    """
    history = History(records=50)
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    history.each("audit_ranges", lambda row: row | {"log_start": 1})
    history.drop("audit", offset=0)
    rows = asking(spark, tmp_path, "lost")(history)
    assert [(row["seq"], row["severity"]) for row in rows] == [(0, "unproven"), (20, "violation")]


@pytest.mark.proves("lost", "fires")
def test_the_replicas_own_files_say_whether_it_is_anywhere(spark: SparkSession, tmp_path: Path) -> None:
    """A4: lost on every replica, on a replica that diverged, or nobody knows: a loss all the same, and it is told."""
    history = History(records=50)
    for offset in (10, 20, 30, 40):
        history.drop("reads", offset=offset)
        history.drop("audit", offset=offset)
    for first, last, same in ((10, 15, True), (16, 20, False), (30, 30, None)):
        why = "broker 1: its host does not answer" if same is None else None
        history.add("copies", first=first, last=last, same=same, why=why)
    rows = asking(spark, tmp_path, "lost")(history)
    assert [(row["offset"], row["replicas"], row["severity"]) for row in rows] == [
        (10, "agree", "violation"), (20, "differ", "violation"), (30, None, "violation"), (40, None, "violation"),
    ]  # fmt: skip


@pytest.mark.proves("lost", "near miss")
@pytest.mark.parametrize(
    ("cut", "stopped", "config", "severity"),
    [
        ("power_off: host node1", "broker 1 on node2", {}, "allowed"),
        ("fail_disk: broker 0 on node1", "broker 1 on node2", {}, "allowed"),
        ("wipe_disk: broker 0 on node1", "broker 1 on node2", {}, "allowed"),
        ("wipe_disk: broker 0 on node1", None, {}, "violation"),
        ("kill_broker: broker 0 on node1", "broker 1 on node2", {}, "violation"),
        ("power_off: host node1", "broker 1 on node2", {"min.insync.replicas": 2}, "violation"),
        ("power_off: host node1", None, {}, "violation"),
        ("power_off: host node1, host node2", None, {"min.insync.replicas": 2}, "allowed"),
        ("power_off: host node3", "broker 1 on node2", {}, "violation"),
        ("power_off: host node3, host node1", None, {"min.insync.replicas": 2}, "violation"),
    ],
)
def test_all_that_had_it_lost_what_was_on_no_disk(
    spark: SparkSession, tmp_path: Path, cut: str, stopped: str | None, config: dict[str, object], severity: str
) -> None:
    """A4: acks=all waits for page caches. Allowed if those of all replicas in sync went at once, and of no others.

    The partition's two replicas are on node1 and node2: that node3 lost its power as well, or alone, excuses nothing,
    nor does another partition, whose replicas are on node3 alone.
    """
    history = History(records=50)
    history.topic = {**history.topic, "partitions": 2, "replication_factor": 2, "config": config}
    history.change("partitions", {}, replicas=[0, 1])
    history.add(
        "partitions", at=1.0, asked=0, partition=1, leader=2, leader_epoch=1, replicas=[2], isr=[2],
    )  # fmt: skip
    step, targets = cut.split(": ")
    history.change("faults", {"fault": "kill"}, step=step, targets=targets)
    if stopped is not None:
        alone = {"leader": 0, "leader_epoch": 4, "isr": [0]}  # broker 1 is stopped
        history.each("partitions", lambda row: row | (alone if not row["partition"] and row["at"] >= ns(0.4) else {}))
        history.add(
            "faults", fault="shrunk", step="stop_broker", targets=stopped, invoked=0.2, applied=0.3, heal_invoked=5.2,
            healed=6, took=True, undone=True,
        )  # fmt: skip
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    (row,) = asking(spark, tmp_path, "lost")(history)
    assert row["severity"] == severity
