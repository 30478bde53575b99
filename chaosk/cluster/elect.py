"""Leader elections on request (``kafka-leader-election.sh``): preferred and unclean."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin import ElectLeadersRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.routed_requests import ask_controller
from chaosk.core.errors import StepError
from chaosk.core.model import Model
from chaosk.spec.contracts.step import Elect

_TYPES = {"preferred": 0, "unclean": 1}
_FINE = {codes.NONE, codes.ELECTION_NOT_NEEDED}
_PATIENCE = 5_000
"""Milliseconds for which the controller may wait until it has seen the elected leaders."""


class ElectionResult(Model):
    """The result for one partition."""

    topic: str
    partition: int
    elected: bool
    """True if leadership was decided again; False if the election was not needed."""


def elect(brokers: Brokers, deed: Elect) -> tuple[ElectionResult, ...]:
    """Ask the controller to elect leaders of a topic's partitions, and wait for them; return the result by partition.

    An election that is not needed is not a failure. Raises StepError naming every partition whose election failed, and
    ClusterError if no controller answers.
    """
    numbers = deed.partitions
    if numbers is None:
        numbers = tuple(one.partition for one in brokers.partitions(deed.topic))

    def request() -> ElectLeadersRequest:
        asked = ElectLeadersRequest.TopicPartitions(topic=deed.topic, partitions=list(numbers))
        return ElectLeadersRequest(
            election_type=_TYPES[deed.election], topic_partitions=[asked], timeout_ms=_PATIENCE, version=2
        )

    answer = ask_controller(brokers, request, _errors)
    if codes.REQUEST_TIMED_OUT in _errors(answer):
        # A controller was seen (Kafka 3.9, with ZooKeeper) to elect within a second without noticing the announcement
        # of the new leaders: it answers when the request times out. Asked again, it answers that no election is needed.
        answer = ask_controller(brokers, request, _errors)
    results = _results(answer)
    failed = [one for one in results if one.error_code not in _FINE]
    if failed or answer.error_code:
        told = "; ".join(f"{deed.topic}-{one.partition_id}: {codes.reason(one)}" for one in failed[:5])
        raise StepError(f"the {deed.election} election failed: {told or codes.error_name(answer.error_code)}")
    return tuple(
        ElectionResult(topic=deed.topic, partition=one.partition_id, elected=one.error_code == codes.NONE)
        for one in sorted(results, key=lambda one: int(one.partition_id))
    )


def _results(answer: Any) -> list[Any]:  # noqa: ANN401 - kafka-python's answers
    return [one for topic in answer.replica_election_results for one in topic.partition_result]


def _errors(answer: Any) -> list[int]:  # noqa: ANN401 - kafka-python's answers
    return [answer.error_code, *(one.error_code for one in _results(answer))]
