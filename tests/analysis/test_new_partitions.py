"""Partitions that are created in a run: a group learns of them late, and a reader that lists its own once does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.asking import Asked, asking
from analysis.history import History
from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]
_SHORT = {"session.timeout.ms": 6000, "max.poll.interval.ms": 8000}


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks the check of A5 alone."""
    return asking(spark, tmp_path, "unseen")


def grown(*, created: float = 1.0) -> History:
    """Partition 1 is created at 1 s, and written to from 2 s on; the group is given all of partition 0 alone."""
    history = History(records=50)
    history.rows["faults"].clear()
    history.entry = {"name": "grow", "at": "1s", "create_partitions": {"topic": "orders", "count": 2}}
    history.record["entries"] = [{"entry": "grow", "status": "done"}]
    history.add("faults", fault="grow", step="create_partitions", targets="", invoked=created, applied=created + 0.2,
                took=True, undone=True)  # fmt: skip
    history.probes["second"] = {"produce": {"topic": "orders", "rate": "1/s", "partition": 1}}
    history.worker("second", started=1.5, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.record["probes"].append({"probe": "second", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    for number in range(18):
        history.send(number, 2 + number, probe="second", partition=1)
        history.audit(number, partition=1, producer="second")
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=-1, complete=True)
    return history


def severities(rows: list[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """Number of rows by reader and severity."""
    found = [(row["group"], row["severity"]) for row in rows]
    return {key: found.count(key) for key in sorted(set(found))}


def configured(**settings: int) -> History:
    """The same with short time-outs of the group, and these settings."""
    history = grown()
    history.probes["reader"]["consume"]["config"] = {**_SHORT, **settings}
    return history


@pytest.mark.parametrize("every", [{}, {"topic.metadata.refresh.interval.ms": -1}], ids=["300 s", "never"])
def test_a_group_may_not_have_learned_of_a_new_partition(asked: Asked, every: dict[str, int]) -> None:
    """Near miss of A5: its members ask for new partitions every 300 s by default, and the run ends 19 s after it."""
    assert {row["severity"] for row in asked(configured(**every))} == {"unproven"}


def test_a_group_that_asks_for_new_partitions_each_second_owes_them(asked: Asked) -> None:
    """A5: it learns of the partition within a second, and a rebalance takes 14 s; the run goes on for 19 s."""
    rows = asked(configured(**{"topic.metadata.refresh.interval.ms": 1000}))
    assert severities(rows)["readers", "violation"] == 3, "those of the last 15 s may come yet"


def test_a_partition_that_was_owned_before_has_been_discovered(asked: Asked) -> None:
    """A5: a member owned it from 1.8 s until 1.9 s, and none has since."""
    history = configured()
    history.add("assignments", partition=1, at=1.8, assignment=1)
    history.add("assignments", partition=1, at=1.9, assignment=1, kind="revoke")
    assert severities(asked(history))["readers", "violation"] > 0


def by_itself(history: History, *, started: float = -5.95) -> History:
    """The same with a reader without a group that lists the partitions of the topic as it starts; the group is done."""
    history.probes["tail"] = {"consume": {"topic": "orders", "assign": "all", "config": _SHORT}}
    history.worker("tail", started=started, kind="consume", isolation="read_committed", commit="none")
    history.record["probes"].append({"probe": "tail", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.add("assignments", probe="tail", group=None, at=started + 0.05)
    for offset in range(50):
        history.read(offset, max(started + 0.1, -5 + offset / 2 + 0.01), probe="tail", group=None)
    history.add("assignments", partition=1, at=1.9, assignment=1)
    for number in range(18):
        history.read(number, 2.01 + number, partition=1, producer="second", assignment=1)
    return history


def test_a_reader_that_listed_the_partitions_before_is_not_owed_a_new_one(asked: Asked) -> None:
    """Near miss of A5: its only process started before the partition was created."""
    assert asked(by_itself(grown())) == []


def test_a_reader_that_started_later_is_owed_the_new_partition(asked: Asked) -> None:
    """A5: its process started 6 s after the partition had been created."""
    assert severities(asked(by_itself(grown(created=-8), started=-1.8)))["tail", "violation"] > 0


def test_a_reader_that_started_just_then_may_not_have_seen_it(asked: Asked) -> None:
    """Near miss of A5: its process started half a second after the partition had been created."""
    assert {row["severity"] for row in asked(by_itself(grown(created=-3), started=-2.3))} == {"unproven"}
