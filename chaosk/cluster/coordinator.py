"""Which broker coordinates a consumer group."""

from __future__ import annotations

from kafka.protocol.metadata import FindCoordinatorRequest

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import current

_OFFSETS = "__consumer_offsets"
_GROUP = 0  # FindCoordinator: of a consumer group


def coordinator(brokers: Brokers, group: str) -> int | None:
    """Broker id of a consumer group's coordinator, as most of the cluster's brokers name it; None if none does."""
    inside = [one.asked for one in current(brokers.views([_OFFSETS]))]
    answers = brokers.ask_all(lambda: FindCoordinatorRequest(key=group, key_type=_GROUP, version=2), inside)
    named = [answer.node_id for answer in answers.values() if answer.error_code == 0 and answer.node_id >= 0]
    return max(named, key=named.count, default=None)
