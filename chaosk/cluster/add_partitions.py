"""Additional partitions for an existing topic."""

from __future__ import annotations

from kafka.protocol.admin import CreatePartitionsRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.routed_requests import ask_controller
from chaosk.cluster.shape import spread
from chaosk.cluster.views import current
from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import AddPartitions

_PATIENCE = 10_000
"""Time-out of the controller, in milliseconds."""


def add_partitions(brokers: Brokers, deed: AddPartitions) -> None:
    """Ask the controller to raise a topic's number of partitions, with the same placement as for new topics.

    If brokers have racks, Kafka places them. Raises StepError if the controller refuses, UnknownTopic if there is no
    such topic, ClusterError if no controller answers.
    """
    there = brokers.partitions(deed.topic)
    views = current(brokers.views([deed.topic]))
    placed = spread(range(len(there), deed.count), len(there[0].replicas), views[0].alive)

    def request() -> CreatePartitionsRequest:
        kind = CreatePartitionsRequest.CreatePartitionsTopic
        new = [kind.CreatePartitionsAssignment(broker_ids=list(each)) for each in placed.values()]
        assignments = None if any(one.racks for one in views) else new
        topic = kind(name=deed.topic, count=deed.count, assignments=assignments)
        return CreatePartitionsRequest(topics=[topic], timeout_ms=_PATIENCE, validate_only=False, version=3)

    answer = ask_controller(brokers, request, lambda one: [each.error_code for each in one.results])
    refused = [one for one in answer.results if one.error_code != codes.NONE]
    if refused:
        raise StepError(f"topic {deed.topic}: no partitions were added: {codes.reason(refused[0])}")
