"""Offsets of partitions as one replica reports them: log start, high watermark, last stable, log end.

Only leaders answer a consumer's request: with the high watermark at read_uncommitted, the last stable offset at
read_committed. With replica id -2 (Kafka's id of a debugging consumer) every replica answers, followers too, with its
own log end offset (Kafka 3.9, ``KafkaApis.handleListOffsetRequestV1AndAbove``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka.protocol.consumer.offsets import ListOffsetsRequest

from chaosk.cluster import codes

# ListOffsetsRequest: replica_id, timestamp and isolation_level as the protocol numbers them
_CONSUMER, _DEBUGGING = -1, -2
_LATEST, _EARLIEST = -1, -2
_UNCOMMITTED, _COMMITTED = 0, 1


@dataclass(frozen=True, slots=True)
class ReplicaOffsets:
    """One replica's offsets of one partition; None if not reported."""

    topic: str
    partition: int
    leader: bool
    """True if the broker considered itself the leader: it answered as only a leader does, with or without an offset.

    A leader that was just elected answers OFFSET_NOT_AVAILABLE until its followers have fetched from it (KIP-207).
    """
    log_start: int | None
    high_watermark: int | None
    last_stable: int | None
    log_end: int | None


def offsets_requests(partitions: Mapping[str, Sequence[int]]) -> tuple[ListOffsetsRequest, ...]:
    """Return the four requests about these partitions (numbers by topic), for :func:`replica_offsets` to read."""
    return (
        _request(partitions, _DEBUGGING, _EARLIEST, _UNCOMMITTED),
        _request(partitions, _DEBUGGING, _LATEST, _UNCOMMITTED),
        _request(partitions, _CONSUMER, _LATEST, _UNCOMMITTED),
        _request(partitions, _CONSUMER, _LATEST, _COMMITTED),
    )


def replica_offsets(answers: Sequence[Any]) -> tuple[ReplicaOffsets, ...]:
    """Return the offsets that one broker reports in its answers to :func:`offsets_requests`.

    Partitions without a replica on it are left out.
    """
    log_start, log_end, high_watermark, last_stable = (offsets_by_partition(answer) for answer in answers)
    leads = {*_leads(answers[2]), *_leads(answers[3])}
    return tuple(
        ReplicaOffsets(
            topic=topic,
            partition=partition,
            leader=(topic, partition) in leads,
            log_start=log_start.get((topic, partition)),
            high_watermark=high_watermark.get((topic, partition)),
            last_stable=last_stable.get((topic, partition)),
            log_end=log_end.get((topic, partition)),
        )
        for topic, partition in sorted({*log_start, *log_end, *leads})
    )


def end_offsets_request(partitions: Mapping[str, Sequence[int]]) -> tuple[ListOffsetsRequest, ListOffsetsRequest]:
    """Return requests for start and end of logs, for their leader; :func:`offsets_by_partition` reads the answers."""
    return _request(partitions, _CONSUMER, _EARLIEST, _UNCOMMITTED), _request(
        partitions, _CONSUMER, _LATEST, _UNCOMMITTED
    )


def _request(
    partitions: Mapping[str, Sequence[int]], replica: int, timestamp: int, isolation: int
) -> ListOffsetsRequest:
    topic, partition = ListOffsetsRequest.ListOffsetsTopic, ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition
    return ListOffsetsRequest(
        replica_id=replica,
        isolation_level=isolation,
        topics=[
            topic(
                name=name,
                partitions=[
                    partition(partition_index=p, current_leader_epoch=-1, timestamp=timestamp) for p in numbers
                ],
            )
            for name, numbers in partitions.items()
        ],
    )


def offsets_by_partition(answer: Any) -> dict[tuple[str, int], int]:  # noqa: ANN401 - kafka-python makes it at run time
    """Return the offsets without an error, by topic and partition."""
    return {
        (topic.name, one.partition_index): one.offset
        for topic in answer.topics
        for one in topic.partitions
        if one.error_code == codes.NONE and one.offset >= 0
    }


def _leads(answer: Any) -> set[tuple[str, int]]:  # noqa: ANN401 - kafka-python makes it at run time
    """Return the partitions that were answered as a leader does."""
    return {
        (topic.name, one.partition_index)
        for topic in answer.topics
        for one in topic.partitions
        if one.error_code in (codes.NONE, codes.OFFSET_NOT_AVAILABLE)
    }
