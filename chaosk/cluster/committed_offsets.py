"""Committed offsets of consumer groups, read from and written to their coordinators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka.protocol.consumer.group import OffsetCommitRequest, OffsetFetchRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.routed_requests import ask_coordinator
from chaosk.core.errors import ClusterError


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """A group's committed offset of a partition; ``offset`` is None without a commit."""

    topic: str
    partition: int
    offset: int | None
    note: str
    """The metadata text of the commit."""


def committed(brokers: Brokers, group: str, partitions: Mapping[str, Sequence[int]]) -> tuple[CommittedOffset, ...]:
    """Read a group's commits for partitions (numbers by topic); raises ClusterError if its coordinator is gone."""

    def request() -> OffsetFetchRequest:
        topic = OffsetFetchRequest.OffsetFetchRequestTopic
        asked = [topic(name=name, partition_indexes=list(numbers)) for name, numbers in partitions.items()]
        return OffsetFetchRequest(group_id=group, topics=asked, version=7)

    answer = ask_coordinator(brokers, group, request, _fetch_errors)
    _refuse(f"group {group}: its committed offsets cannot be read", _fetch_errors(answer))
    return tuple(
        CommittedOffset(
            topic=topic.name,
            partition=one.partition_index,
            offset=one.committed_offset if one.committed_offset >= 0 else None,
            note=one.metadata or "",
        )
        for topic in answer.topics
        for one in topic.partitions
    )


def commit(brokers: Brokers, group: str, offsets: Sequence[CommittedOffset]) -> None:
    """Commit offsets for a group without members; raises ClusterError on failure."""

    def request() -> OffsetCommitRequest:
        topic = OffsetCommitRequest.OffsetCommitRequestTopic
        topics = [
            topic(
                name=one.topic,
                partitions=[
                    topic.OffsetCommitRequestPartition(
                        partition_index=one.partition, committed_offset=one.offset or 0, committed_metadata=one.note
                    )
                ],
            )
            for one in offsets
        ]
        return OffsetCommitRequest(group_id=group, member_id="", topics=topics, version=7)

    answer = ask_coordinator(brokers, group, request, _commit_errors)
    _refuse(f"group {group}: its offsets cannot be committed", _commit_errors(answer))


def _fetch_errors(answer: Any) -> list[int]:  # noqa: ANN401 - kafka-python's answers
    return [answer.error_code, *(one.error_code for topic in answer.topics for one in topic.partitions)]


def _commit_errors(answer: Any) -> list[int]:  # noqa: ANN401 - kafka-python's answers
    return [one.error_code for topic in answer.topics for one in topic.partitions]


def _refuse(what: str, errors: list[int]) -> None:
    wrong = sorted({codes.error_name(code) for code in errors if code != codes.NONE})
    if wrong:
        raise ClusterError(f"{what}: {', '.join(wrong)}")
