"""The consumer under real faults: what it says of the group is what the group did."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from probes.conftest import Working

from chaosk.probes import _consume_loop
from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce

from .conftest import Cluster, until

pytestmark = [pytest.mark.lab, pytest.mark.long]


def reader(topic: str, **fields: Any) -> Consume:
    """A member of a group."""
    config = {"session.timeout.ms": 6000, **fields.pop("config", {})}
    return Consume.model_validate({"topic": topic, "group": f"{topic}-group", "config": config, **fields})


def writer(topic: str) -> Produce:
    """300 records a second that are never lost."""
    config = {"acks": "all", "enable.idempotence": True}
    return Produce.model_validate({"topic": topic, "rate": "300/s", "config": config})


@pytest.mark.parametrize(("strategy", "kept"), [("range", 0), ("cooperative-sticky", 1)], ids=["eager", "cooperative"])
def test_a_second_member_comes_and_goes(cluster: Cluster, strategy: str, kept: int) -> None:
    """Assignment intervals of two members never overlap, numbers follow the protocol, and nothing is missed."""
    topic = cluster.topic(partitions=4)
    sending = cluster.start(writer(topic), "writer")
    config = {"partition.assignment.strategy": strategy}
    one = cluster.start(reader(topic, commit="sync", config=config), "one")
    until(one, lambda state: state.ok > 300)
    two = cluster.start(reader(topic, commit="sync", config=config), "two")
    until(two, lambda state: state.ok > 300)
    assert two.stop(30) == 0
    before = one.state().ok
    until(one, lambda state: state.ok > before + 1000)
    assert sending.stop(30) == 0
    cluster.until_read(("one", 0), ("two", 0))
    assert one.stop(30) == 0
    reads = cluster.rows("reads", "one") + cluster.rows("reads", "two")
    sent = {row["seq"] for row in cluster.rows("sends", "writer")}
    assert {row["seq"] for row in reads} == sent
    assert len(reads) == len(sent), "committed before every handover: nothing is delivered twice"
    intervals = held(cluster, "one") + held(cluster, "two")
    for place, begin, end, _number in intervals:
        others = [each for each in intervals if each[0] == place and each[1] != begin]
        assert all(other[2] <= begin or other[1] >= end for other in others), "nobody holds what another one holds"
    never_moved = [number for place, _, _, number in held(cluster, "one") if times(cluster, place) == 1]
    assert len(never_moved) >= 2 * kept
    first = cluster.rows("fetched", "two")
    assert first
    assert all(row["offset"] is not None for row in first), "the second member begins where the first one committed"


class RevokedWhileFetching(Consumer):
    """A consumer of which partitions are taken away while a poll that has a first record asks for more."""

    join: ClassVar[Any]
    """Lets a second member join."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.revocations: list[list[TopicPartition]] = []

    def subscribe(self, topics: list[str], **callbacks: Any) -> None:  # type: ignore[override] # as it is called
        """Note the revocation before the probe's own callback does its work."""
        then = callbacks.pop("on_revoke")

        def on_revoke(client: Consumer, partitions: list[TopicPartition]) -> None:
            if not self.revocations:
                self.resume(self.assignment())
            self.revocations.append(partitions)
            then(client, partitions)

        super().subscribe(topics, on_revoke=on_revoke, **callbacks)

    def consume(self, *args: Any, **kwargs: Any) -> list[Message]:
        """The first time it does not end before the revocation; nothing more is fetched meanwhile."""
        if self.revocations:
            return super().consume(*args, **kwargs)
        type(self).join()
        self.pause(self.assignment())
        got: list[Message] = []
        end = time.monotonic() + 30
        while not got and not self.revocations:
            assert time.monotonic() < end
            got = super().consume(1, 0.1)
        return got


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
@pytest.mark.parametrize("commit", ["sync", "automatic"])
def test_what_was_read_before_a_revocation_is_committed_with_it(
    cluster: Cluster, work: Callable[..., Working], monkeypatch: pytest.MonkeyPatch, strategy: str, commit: str
) -> None:
    """The new owner begins after the record that this member had in its hands, and reads it no second time."""
    topic = cluster.topic(partitions=4)
    sending = cluster.start(writer(topic), "writer")
    until(sending, lambda state: state.ok > 300)
    assert sending.stop(30) == 0
    servers = {"bootstrap.servers": cluster.inventory.bootstrap_servers()}
    probe = reader(topic, commit=commit, config={"partition.assignment.strategy": strategy})
    two: list[Working] = []

    def join() -> None:
        with monkeypatch.context() as real:
            real.setattr(_consume_loop, "Consumer", Consumer)
            two.append(work(probe, "two", **servers))
            two[0].until(lambda _state: True)

    monkeypatch.setattr(RevokedWhileFetching, "join", staticmethod(join), raising=False)
    monkeypatch.setattr(_consume_loop, "Consumer", RevokedWhileFetching)
    one = work(probe, "one", **servers)
    sent = cluster.rows("sends", "writer")
    end = time.monotonic() + 60
    while sum(each.states[-1].ok for each in (one, *two) if each.states) < len(sent):
        assert time.monotonic() < end, (one.states[-1:], two)
        time.sleep(0.05)
    time.sleep(0.5)
    two[0].end()
    one.end()
    reads = one.rows("reads") + two[0].rows("reads")
    assert sorted(row["seq"] for row in reads) == sorted(row["seq"] for row in sent)
    assert sum(row["records"] for row in one.rows("polls")) == len(one.rows("reads"))


Interval = tuple[int, int, int, int]


def held(cluster: Cluster, name: str) -> list[Interval]:
    """By partition, from when until when a member held it, and the number of that assignment."""
    begun: dict[tuple[int, int], int] = {}
    intervals = []
    for row in cluster.rows("assignments", name):
        key = (row["partition"], row["assignment"])
        if row["kind"] == "assign":
            assert key not in begun
            begun[key] = row["at"]
        else:
            intervals.append((row["partition"], begun[key], row["at"], row["assignment"]))
    return intervals


def times(cluster: Cluster, partition: int) -> int:
    """How often a partition was given to the first member."""
    rows = cluster.rows("assignments", "one")
    return sum(row["kind"] == "assign" and row["partition"] == partition for row in rows)


def test_a_killed_member_reads_again_what_it_had_not_committed(cluster: Cluster) -> None:
    """SIGKILL and a new incarnation: it begins at the last commit, and delivers the rest once more."""
    topic = cluster.topic(partitions=1)
    sending = cluster.start(writer(topic), "writer")
    first = cluster.start(reader(topic, commit="sync", commit_every="2s"), "reader")
    until(first, lambda state: state.ok > 1500)
    first.kill()
    second = cluster.start(reader(topic, commit="sync", commit_every="2s"), "reader", 1)
    until(second, lambda state: state.ok > 1500)
    assert sending.stop(30) == 0
    cluster.until_read(("reader", 0), ("reader", 1))
    assert second.stop(30) == 0
    committed = max(row["offset"] for row in cluster.rows("commits", "reader") if row["outcome"] == "ok")
    (found,) = cluster.rows("fetched", "reader", 1)
    delivered = [row["offset"] for row in cluster.rows("reads", "reader", 1)]
    assert found["offset"] == delivered[0]
    assert committed <= found["offset"], "the log may lack the last answer, but never promise more than was committed"
    assert found["offset"] <= cluster.rows("reads", "reader")[-1]["offset"] + 1
    both = {row["seq"] for row in cluster.rows("reads", "reader") + cluster.rows("reads", "reader", 1)}
    assert both == {row["seq"] for row in cluster.rows("sends", "writer")}


def test_a_frozen_coordinator_is_survived_and_the_end_is_bounded(cluster: Cluster) -> None:
    """With its coordinator frozen a member with synchronous commits still ends in time, and its log is complete.

    The topic has no replica there: a frozen one would hold up the records, and without records nothing is committed.
    """
    group = f"frozen-{time.time_ns()}"
    frozen = cluster.coordinator(group)
    topic = cluster.topic(partitions=2, without=frozen)
    sending = cluster.start(writer(topic), "writer")
    member = cluster.start(reader(topic, commit="sync", group=group), "reader")
    until(member, lambda state: state.ok > 300)
    assert cluster.coordinator(group) == frozen
    cluster.signal(frozen, "STOP")
    try:
        time.sleep(3)
        last = cluster.rows("polls", "reader")[-1]
        assert time.monotonic_ns() - last["completed"] > 2e9, "held up in a commit"
        assert cluster.rows("reads", "reader")[-1]["at"] == max(
            row["completed"] for row in cluster.rows("polls", "reader") if row["records"]
        ), "what was read before the commit is on disk, though the loop is held up"
    finally:
        cluster.signal(frozen, "CONT")
    before = member.state().ok
    until(member, lambda state: state.ok > before + 300, within=90)
    assert sending.stop(30) == 0
    assert member.stop(40) == 0
    kinds = {(row["kind"], row["outcome"]) for row in cluster.rows("commits", "reader")}
    assert ("sync", "ok") in kinds


def test_a_poll_too_late_loses_the_partitions(cluster: Cluster) -> None:
    """A member whose process is frozen beyond its session is out: its partitions are lost, then given anew."""
    topic = cluster.topic(partitions=2)
    sending = cluster.start(writer(topic), "writer")
    member = cluster.start(reader(topic), "reader")
    until(member, lambda state: state.ok > 300)
    os.kill(member.pid, signal.SIGSTOP)
    time.sleep(9)
    os.kill(member.pid, signal.SIGCONT)
    before = member.state().ok
    until(member, lambda state: state.ok > before + 3000)
    assert sending.stop(30) == 0
    assert member.stop(30) == 0
    rows = [(row["kind"], row["assignment"]) for row in cluster.rows("assignments", "reader")]
    assert rows.count(("assign", 0)) == 2
    assert ("lost", 0) in rows or ("revoke", 0) in rows
    assert ("assign", 1) in rows
