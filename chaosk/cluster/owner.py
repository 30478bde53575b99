"""Which topics chaosk made: it may delete those, and no other.

The proof is in the cluster, so that it holds whichever machine chaosk runs on: an offset committed by a group of
chaosk's own, with the topic's id as its note. Kafka drops it together with the topic, and a topic that somebody
makes anew under the same name has another id. See docs/decisions/leftover-topics.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.groups import Committed, commit, committed

GROUP = "chaosk"
"""The consumer group that commits the proof."""


def own_topics(brokers: Brokers, ids: Mapping[str, str]) -> frozenset[str]:
    """Those of some topics (topic id by name) that chaosk made; raises ClusterError if the proof cannot be read."""
    if not ids:
        return frozenset()
    notes = committed(brokers, GROUP, {topic: [0] for topic in ids})
    return frozenset(one.topic for one in notes if one.note == _note(ids[one.topic]))


def claim(brokers: Brokers, ids: Mapping[str, str]) -> None:
    """Write down that chaosk made these topics; raises ClusterError if that cannot be written."""
    commit(brokers, GROUP, [Committed(topic, 0, 0, _note(identity)) for topic, identity in sorted(ids.items())])


def _note(identity: str) -> str:
    return f"made by chaosk: {identity}"
