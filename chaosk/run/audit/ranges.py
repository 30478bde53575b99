"""The offsets to read of each partition: requested from its leader, once no more records are written."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.offsets import ReplicaOffsets, offsets_requests, replica_offsets
from chaosk.cluster.views import PartitionView
from chaosk.core.errors import ClusterError

SETTLE = 10.0
"""Seconds that followers may take to catch up, so that the high watermark reaches the end of the log."""
_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class AuditRange:
    """The offsets to read of one partition."""

    topic: str
    partition: int
    log_start: int = 0
    high_watermark: int = 0
    last_stable: int = 0
    why: str | None = None
    """Reason why the range is incomplete; None if it is complete."""
    known: bool = True
    """False if no leader reported the offsets."""

    def end(self, isolation: str) -> int:
        """Return one past the last offset to read at that isolation level."""
        return self.last_stable if isolation == "read_committed" else self.high_watermark


def ranges(brokers: Brokers, topics: Iterable[str], settle: float = SETTLE) -> tuple[AuditRange, ...]:
    """Return the offsets to read of each partition of some topics, by topic and number.

    Waits up to ``settle`` seconds for every high watermark to reach the end of its leader's log: until then, records
    acknowledged with acks=1 exist but cannot be read. A partition that does not get there, or without an answering
    leader, has the reason in ``why``. Raises ClusterError if the cluster does not answer or has no such topic.
    """
    states = [one for topic in sorted(topics) for one in brokers.partitions(topic)]
    end = time.monotonic() + settle
    while True:
        found = _ask(brokers, states)
        if all(one.why is None for one in found) or time.monotonic() > end:
            return found
        time.sleep(_PAUSE)
        states = [one for topic in sorted(topics) for one in brokers.partitions(topic)]


def ends(brokers: Brokers, topics: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return the partitions' high watermarks by topic; a topic with an uncertain high watermark is left out."""
    try:
        found = ranges(brokers, topics, settle=0)
    except ClusterError:
        return {}
    unsure = {one.topic for one in found if one.why is not None}
    return {
        topic: tuple(one.high_watermark for one in found if one.topic == topic)
        for topic in {one.topic for one in found} - unsure
    }


def held(brokers: Brokers, topics: Iterable[str]) -> dict[tuple[str, int], int | None] | None:
    """Return the last stable offsets below the high watermark, by topic and partition, as their leaders report.

    The offset is None for a partition whose leader does not answer; all is None if the cluster does not.
    """
    try:
        found = ranges(brokers, topics, settle=0)
    except ClusterError:
        return None
    return {
        (partition.topic, partition.partition): partition.last_stable if partition.known else None
        for partition in found
        if not partition.known or partition.last_stable < partition.high_watermark
    }


def _ask(brokers: Brokers, states: Sequence[PartitionView]) -> tuple[AuditRange, ...]:
    by_leader: dict[int, dict[str, list[int]]] = {}
    for one in states:
        by_leader.setdefault(one.leader, {}).setdefault(one.topic, []).append(one.partition)
    told: dict[tuple[str, int], ReplicaOffsets | str] = {}
    for leader, led in by_leader.items():
        told.update(_ask_leader(brokers, leader, led))
    return tuple(_range(one.topic, one.partition, told.get((one.topic, one.partition))) for one in states)


def _ask_leader(
    brokers: Brokers, leader: int, led: Mapping[str, Sequence[int]]
) -> dict[tuple[str, int], ReplicaOffsets | str]:
    try:
        answers = [brokers.ask(leader, request) for request in offsets_requests(led)]
    except ClusterError as error:
        return {(topic, number): str(error) for topic, numbers in led.items() for number in numbers}
    return {(one.topic, one.partition): one for one in replica_offsets(answers)}


def _range(topic: str, partition: int, told: ReplicaOffsets | str | None) -> AuditRange:
    empty = AuditRange(topic, partition, known=False)
    if not isinstance(told, ReplicaOffsets):
        return replace(empty, why=told or "no leader reported its offsets")
    if told.log_start is None or told.high_watermark is None or told.last_stable is None or told.log_end is None:
        return replace(empty, why="its leader did not report its offsets")
    behind = told.log_end - told.high_watermark
    return AuditRange(
        topic, partition, told.log_start, told.high_watermark, told.last_stable,
        f"the high watermark is {behind} offsets behind the end of the leader's log" if behind > 0 else None,
    )  # fmt: skip
