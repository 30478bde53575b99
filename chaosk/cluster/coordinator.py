"""Which broker coordinates a consumer group, or the transactions of a ``transactional.id``."""

from __future__ import annotations

from kafka.protocol.metadata import FindCoordinatorRequest

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import current

_GROUP = (0, "__consumer_offsets")
"""Of a consumer group: the key type of FindCoordinator, and the topic whose leaders coordinate."""
_TRANSACTIONS = (1, "__transaction_state")
"""Of a ``transactional.id``."""


def coordinator(brokers: Brokers, group: str) -> int | None:
    """Broker id of a consumer group's coordinator, as most of the cluster's brokers name it; None if none does."""
    return _named(brokers, group, _GROUP)


def transaction_coordinator(brokers: Brokers, transactional_id: str) -> int | None:
    """The same of a ``transactional.id``."""
    return _named(brokers, transactional_id, _TRANSACTIONS)


def _named(brokers: Brokers, key: str, kind: tuple[int, str]) -> int | None:
    key_type, topic = kind
    inside = [one.asked for one in current(brokers.views([topic]))]
    answers = brokers.ask_all(lambda: FindCoordinatorRequest(key=key, key_type=key_type, version=2), inside)
    named = [answer.node_id for answer in answers.values() if answer.error_code == 0 and answer.node_id >= 0]
    return max(named, key=named.count, default=None)
