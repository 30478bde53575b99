"""Coordinators of consumer groups and of the transactions of a ``transactional.id``."""

from __future__ import annotations

from kafka.protocol.metadata import FindCoordinatorRequest

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import current

_GROUP = (0, "__consumer_offsets")
"""For a consumer group: FindCoordinator's key type, and the topic whose leaders coordinate."""
_TRANSACTIONS = (1, "__transaction_state")
"""For a ``transactional.id``."""


def coordinator(brokers: Brokers, group: str) -> int | None:
    """Return the broker id of a group's coordinator, by majority of the cluster's brokers; None if none names one."""
    return _named(brokers, group, _GROUP)


def transaction_coordinator(brokers: Brokers, transactional_id: str) -> int | None:
    """Return the same for a ``transactional.id``."""
    return _named(brokers, transactional_id, _TRANSACTIONS)


def _named(brokers: Brokers, key: str, kind: tuple[int, str]) -> int | None:
    key_type, topic = kind
    inside = [one.asked for one in current(brokers.views([topic]))]
    answers = brokers.ask_all(lambda: FindCoordinatorRequest(key=key, key_type=key_type, version=2), inside)
    named = [answer.node_id for answer in answers.values() if answer.error_code == 0 and answer.node_id >= 0]
    return max(named, key=named.count, default=None)
