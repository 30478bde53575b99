"""Reassignments in progress in the whole cluster."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin import ListPartitionReassignmentsRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.routed_requests import ask_controller
from chaosk.core.errors import ClusterError

WITHIN = 5.0
"""Time-out of the controller, in seconds."""


def reassigning(brokers: Brokers) -> tuple[str, ...]:
    """Return every partition under reassignment, like ``orders-0``; raises ClusterError without an answer."""
    answer = ask_controller(
        brokers,
        lambda: ListPartitionReassignmentsRequest(timeout_ms=int(WITHIN * 1000), topics=None, version=0),
        _errors,
        WITHIN,
    )
    if answer.error_code:
        raise ClusterError(f"the controller refused to list reassignments: {codes.error_name(answer.error_code)}")
    return tuple(
        f"{topic.name}-{one.partition_index}" for topic in answer.topics or () for one in topic.partitions or ()
    )


def _errors(answer: Any) -> list[int]:  # noqa: ANN401 - kafka-python's answers
    return [answer.error_code]
