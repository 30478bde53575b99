"""The state of a consumer group, read from its coordinator and its partitions' leaders without joining it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.consumer.group import OffsetFetchRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.offsets import end_offsets_request, offsets_by_partition
from chaosk.cluster.routed_requests import ask_coordinator
from chaosk.cluster.views import partitions
from chaosk.core.errors import ChaoskError, ClusterError

WITHIN = 3.0
"""Seconds for finding a group's coordinator."""

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class GroupState:
    """The state of a group at one moment."""

    group: str
    state: str = ""
    """``Stable``, ``PreparingRebalance``, ``CompletingRebalance``, ``Empty`` or ``Dead``, as its coordinator reports
    it."""
    members: int = 0
    generation: str = ""
    """A fingerprint of the assignment, since Kafka discloses the generation's number only to members."""
    committed: int = 0
    """The sum of its committed offsets."""
    partitions: int = 0
    """Number of partitions with a committed offset."""
    lag: int | None = None
    """Records from the committed offsets to the high watermarks; None if a leader does not answer."""
    problem: str | None = None
    """The reason why the state is unknown."""


def look(brokers: Brokers, group: str) -> GroupState:
    """Read the state of a group; failures are returned in ``problem``, not raised."""
    try:
        described = _described(brokers, group)
        offsets = _committed(brokers, group)
        return GroupState(
            group=group,
            state=described.group_state,
            members=len(described.members),
            generation=_fingerprint(described.members),
            committed=sum(offsets.values()),
            partitions=len(offsets),
            lag=_lag(brokers, offsets),
        )
    except ChaoskError as error:
        return GroupState(group=group, problem=str(error))


def _described(brokers: Brokers, group: str) -> Any:  # noqa: ANN401 - kafka-python's answers
    answer = ask_coordinator(
        brokers, group, lambda: DescribeGroupsRequest(groups=[group], version=5),
        lambda said: [one.error_code for one in said.groups], WITHIN,
    )  # fmt: skip
    (found,) = answer.groups
    if found.error_code != codes.NONE:
        raise ClusterError(f"the group cannot be described: {codes.error_name(found.error_code)}")
    return found


def _committed(brokers: Brokers, group: str) -> dict[Place, int]:
    """Return the group's committed offsets by partition, for all topics."""
    answer = ask_coordinator(
        brokers, group, lambda: OffsetFetchRequest(group_id=group, topics=None, version=7),
        lambda said: [said.error_code], WITHIN,
    )  # fmt: skip
    if answer.error_code != codes.NONE:
        raise ClusterError(f"its committed offsets cannot be read: {codes.error_name(answer.error_code)}")
    return {
        (topic.name, one.partition_index): one.committed_offset
        for topic in answer.topics
        for one in topic.partitions
        if one.error_code == codes.NONE and one.committed_offset >= 0
    }


def _lag(brokers: Brokers, offsets: dict[Place, int]) -> int | None:
    """Return the distance from these offsets to the high watermarks; None unless every leader answers."""
    ends: dict[Place, int] = {}
    try:
        for leader, led in _by_leader(brokers, offsets).items():
            ends |= offsets_by_partition(brokers.ask(leader, end_offsets_request(led)[1]))
    except ClusterError:
        return None
    if not offsets.keys() <= ends.keys():
        return None
    return sum(max(0, ends[place] - offset) for place, offset in offsets.items())


def _by_leader(brokers: Brokers, places: Iterable[Place]) -> dict[int, dict[str, list[int]]]:
    wanted = set(places)
    found: dict[int, dict[str, list[int]]] = {}
    if not wanted:
        return found
    for one in partitions(brokers.views(sorted({topic for topic, _ in wanted}))):
        if (one.topic, one.partition) in wanted:
            found.setdefault(one.leader, {}).setdefault(one.topic, []).append(one.partition)
    return found


def _fingerprint(members: Any) -> str:  # noqa: ANN401 - kafka-python's answers
    """Return a text that changes with members or assignment."""
    return repr(sorted((one.member_id, bytes(one.member_assignment or b"")) for one in members))
