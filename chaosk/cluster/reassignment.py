"""Reassignment of partitions, as by ``kafka-reassign-partitions.sh``: start, cancel, list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka.protocol.admin import AlterPartitionReassignmentsRequest, ListPartitionReassignmentsRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.routed_requests import ask_controller
from chaosk.core.errors import ClusterError, StepError
from chaosk.spec.contracts.step import Reassign

_PATIENCE = 10_000
"""Time-out of the controller, in milliseconds."""


def reassign(brokers: Brokers, deed: Reassign) -> tuple[int, ...]:
    """Ask the controller to reassign or to cancel; return the partitions for which it accepted.

    It accepts at once and copies afterwards. Cancelling without a reassignment in progress is not a failure. Raises
    StepError naming every refused partition, and ClusterError if no controller answers.
    """
    numbers = _numbers(brokers, deed)
    if not numbers:
        return ()

    def request() -> AlterPartitionReassignmentsRequest:
        kind = AlterPartitionReassignmentsRequest.ReassignableTopic
        replicas = None if deed.replicas is None else list(deed.replicas)
        partitions = [kind.ReassignablePartition(partition_index=each, replicas=replicas) for each in numbers]
        topic = kind(name=deed.topic, partitions=partitions)
        return AlterPartitionReassignmentsRequest(timeout_ms=_PATIENCE, topics=[topic], version=0)

    answer = ask_controller(brokers, request, _errors)
    results = _results(answer)
    fine = {codes.NONE} if deed.replicas is not None else {codes.NONE, codes.NO_REASSIGNMENT_IN_PROGRESS}
    failed = [one for one in results if one.error_code not in fine]
    if failed or answer.error_code:
        told = "; ".join(f"{deed.topic}-{one.partition_index}: {codes.reason(one)}" for one in failed[:5])
        raise StepError(f"the reassignment was refused: {told or codes.reason(answer)}")
    return tuple(sorted(int(one.partition_index) for one in results))


def reassigning(brokers: Brokers, topic: str) -> tuple[int, ...]:
    """Return the partitions of a topic under reassignment; raises ClusterError if no controller answers."""

    def request() -> ListPartitionReassignmentsRequest:
        numbers = [one.partition for one in brokers.partitions(topic)]
        asked = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics(
            name=topic, partition_indexes=numbers
        )
        return ListPartitionReassignmentsRequest(timeout_ms=_PATIENCE, topics=[asked], version=0)

    answer = ask_controller(brokers, request, lambda one: [one.error_code])
    if answer.error_code:
        raise ClusterError(f"topic {topic}: its reassignments cannot be read: {codes.reason(answer)}")
    return tuple(sorted(int(one.partition_index) for each in answer.topics for one in each.partitions))


def _numbers(brokers: Brokers, deed: Reassign) -> Iterable[int]:
    if deed.partitions is not None:
        return deed.partitions
    if deed.replicas is None:
        return reassigning(brokers, deed.topic)
    return tuple(one.partition for one in brokers.partitions(deed.topic))


def _results(answer: Any) -> list[Any]:  # noqa: ANN401 - kafka-python's answers
    return [one for topic in answer.responses for one in topic.partitions]


def _errors(answer: Any) -> list[int]:  # noqa: ANN401 - kafka-python's answers
    return [answer.error_code, *(one.error_code for one in _results(answer))]
