"""D10: for how long partitions had fewer replicas in sync than replicas, and than they may be written with."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.conftest import Judge
from analysis.history import History, ns
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.replication import Replication
from chaosk.analysis.events import Events

pytestmark = pytest.mark.spark
Windows = dict[str, float | None]
STEP = 0.21
"""A sampling interval, which times are right to."""


def short(*stretches: tuple[float, float, tuple[int, ...]]) -> History:
    """A run in which the replicas in sync were others from a time on, before another."""
    history = History(records=5)
    for row in history.rows["partitions"]:
        for began, ended, isr in stretches:
            if ns(began) <= row["at"] < ns(ended):
                row["isr"] = list(isr)
    return history


def figures(spark: SparkSession, folder: Path, history: History) -> tuple[Windows, Windows]:
    """By window ``under_replicated_time`` and ``under_min_isr_time``."""
    events = Events(spark, read_case(history.write(folder / "run")))
    measures = list(Replication().measures(events, CheckRows()))
    assert {one.subject for one in measures} == {"orders"}
    names = ("under_replicated_time", "under_min_isr_time")
    found = [{one.window: one.value for one in measures if one.metric == name} for name in names]
    return found[0], found[1]


def test_all_were_in_sync(spark: SparkSession, tmp_path: Path) -> None:
    """No time in any window."""
    none = dict.fromkeys(("run", "baseline", "kill", "after_heal"), 0.0)
    assert figures(spark, tmp_path, short()) == (none, none)


@pytest.mark.proves("replication", "fires")
def test_time_is_counted_in_the_window_it_falls_in(spark: SparkSession, tmp_path: Path) -> None:
    """Two of three in sync from 2 s to 5 s and from 7 s to 11 s, one from 5 s to 7 s: the fault lasts until 6 s."""
    told = short((2, 5, (1, 2)), (5, 7, (1,)), (7, 11, (1, 2)))
    replicated, writable = figures(spark, tmp_path, told)
    assert replicated == pytest.approx({"run": 9, "baseline": 0, "kill": 4, "after_heal": 5}, abs=STEP)
    assert writable == pytest.approx({"run": 2, "baseline": 0, "kill": 1, "after_heal": 1}, abs=STEP)


@pytest.mark.proves("replication", "near miss")
def test_as_many_as_it_takes_are_enough(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: two of three in sync is what min.insync.replicas says."""
    _, writable = figures(spark, tmp_path, short((2, 11, (1, 2))))
    assert set(writable.values()) == {0.0}


def test_partitions_that_are_short_at_the_same_time_count_once(spark: SparkSession, tmp_path: Path) -> None:
    """One from 2 s to 4 s, the other from 3 s to 5 s: three seconds."""
    told = short((2, 4, (1, 2)))
    told.topic["partitions"] = 2
    for tenth in range(-60, 220, 2):
        isr = [0] if 30 <= tenth < 50 else [0, 1, 2]
        told.add("partitions", at=tenth / 10, asked=0, partition=1, leader=0, leader_epoch=1, replicas=[0, 1, 2],
                 isr=isr)  # fmt: skip
    replicated, _ = figures(spark, tmp_path, told)
    assert replicated["run"] == pytest.approx(3, abs=STEP)


def test_one_broker_that_knows_is_enough(spark: SparkSession, tmp_path: Path) -> None:
    """The leader names a shrunk ISR from 2 s to 5 s; a follower that is cut off goes on naming all."""
    told = short((2, 5, (1,)))
    for tenth in range(-60, 220, 2):
        told.add("partitions", at=tenth / 10 + 0.1, asked=2, leader=1, leader_epoch=3, replicas=[0, 1, 2],
                 isr=[0, 1, 2])  # fmt: skip
    replicated, _ = figures(spark, tmp_path, told)
    assert replicated["run"] == pytest.approx(3, abs=STEP)


def test_one_that_knows_an_older_epoch_is_not(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: whole again under a new leader from 5 s on, which a broker that is cut off has not heard of."""
    told = short((2, 5, (1,)))
    told.each("partitions", lambda row: row | ({"leader": 2, "leader_epoch": 4} if row["at"] >= ns(5) else {}))
    for tenth in range(20, 220, 2):
        told.add("partitions", at=tenth / 10 + 0.1, asked=1, leader=1, leader_epoch=3, replicas=[0, 1, 2], isr=[1])
    replicated, _ = figures(spark, tmp_path, told)
    assert replicated["run"] == pytest.approx(3, abs=STEP)


@pytest.mark.proves("replication", "no evidence")
def test_what_nobody_watched_or_set_has_no_figure(spark: SparkSession, tmp_path: Path) -> None:
    """No broker answered from 7 s to 13 s; and nothing says how many replicas the topic is to have in sync."""
    told = short((2, 5, (1,)))
    told.topic["config"] = {}
    told.rows["partitions"] = [row for row in told.rows["partitions"] if not ns(7) < row["at"] < ns(13)]
    replicated, writable = figures(spark, tmp_path, told)
    assert replicated == {"run": None, "baseline": 0, "kill": pytest.approx(3, abs=STEP), "after_heal": None}
    assert set(writable.values()) == {None}


def test_a_topic_that_was_never_short_keeps_an_objective(judge: Judge) -> None:
    """And one that was for too long misses it."""
    for told, met in ((short(), True), (short((2, 5, (1,))), False)):
        told.expect = {"under_min_isr_time": {"max": "1s", "during": "kill"}}
        (objective,) = judge(told).objectives
        assert objective.met is met
