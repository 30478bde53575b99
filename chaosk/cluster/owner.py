"""Ownership of topics: chaosk may delete those it made, and no other.

The proof is in the cluster, so that it is valid for any machine that runs chaosk: an offset committed by a group of
chaosk, with the topic's id as its note. Kafka drops it together with the topic, and a recreated topic of the same name
has another id. See docs/decisions/leftover-topics.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.committed_offsets import CommittedOffset, commit, committed

GROUP = "chaosk"
"""The consumer group that commits the proof."""


def own_topics(brokers: Brokers, ids: Mapping[str, str]) -> frozenset[str]:
    """Return which of some topics (topic id by name) chaosk made; raises ClusterError if the proof cannot be read."""
    if not ids:
        return frozenset()
    notes = committed(brokers, GROUP, {topic: [0] for topic in ids})
    return frozenset(one.topic for one in notes if one.note == _note(ids[one.topic]))


def claim(brokers: Brokers, ids: Mapping[str, str]) -> None:
    """Record that chaosk made these topics; raises ClusterError on failure."""
    commit(brokers, GROUP, [CommittedOffset(topic, 0, 0, _note(identity)) for topic, identity in sorted(ids.items())])


def _note(identity: str) -> str:
    return f"made by chaosk: {identity}"
