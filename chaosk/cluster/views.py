"""Each broker's view of the cluster, and the choice between contradicting views.

A broker that is cut off from its peers keeps reporting its last knowledge. Facts are therefore taken from the brokers
that name the same controller as most others, and a partition's leader from the answer with the newest leader epoch. In
KRaft a broker names any broker as the controller, so there the majority is formed by the set of live brokers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.metadata import MetadataRequest

from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.live import PartitionState

NO_EPOCH = -1
_Key = tuple[str, int]
_FINE = frozenset({0, 5, 9})  # none, LEADER_NOT_AVAILABLE (shown by leader -1), REPLICA_NOT_AVAILABLE
_UNKNOWN_TOPIC = 3


class PartitionView(PartitionState):
    """One partition as one broker describes it."""

    leader_epoch: int = NO_EPOCH
    """Grows with each leader; -1 if the broker does not report it."""


@dataclass(frozen=True, slots=True)
class ClusterView:
    """One broker's view of the cluster."""

    asked: int
    """The broker with this view."""
    controller: int | None
    """None in KRaft, where no broker reports it."""
    alive: tuple[int, ...]
    """The brokers that it considers alive, ascending."""
    racks: bool
    """True if any of them has a rack."""
    partitions: tuple[PartitionView, ...]
    """Partitions of the requested topics that it knows, by topic and number."""
    topic_ids: dict[str, str]
    """Ids of the requested topics that it knows, by name."""
    advertised: dict[int, tuple[str, int]] = field(default_factory=dict)
    """The advertised host and port by broker."""
    kraft: bool = False
    """True if the cluster is in KRaft mode."""

    @property
    def side(self) -> object:
        """Identifies the side of a split cluster: the controller, or in KRaft the live brokers."""
        return self.alive if self.kraft else self.controller


def metadata_request(topics: Sequence[str] | None) -> MetadataRequest:
    """Return the request for some topics (empty: only the brokers), or with None for all; it creates nothing."""
    names = None if topics is None else [MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics]
    return MetadataRequest(topics=names, allow_auto_topic_creation=False, version=12)


def view(asked: int, answer: Any, *, kraft: bool = False) -> ClusterView:  # noqa: ANN401 - kafka-python makes answers at run time
    """Parse a broker's answer to :func:`metadata_request`; raises ClusterError if it refuses."""
    topics = [topic for topic in answer.topics if topic.error_code != _UNKNOWN_TOPIC]
    for topic in topics:
        if topic.error_code not in _FINE:
            raise ClusterError(f"broker {asked} does not describe topic {topic.name}: Kafka error {topic.error_code}")
    return ClusterView(
        asked=asked,
        controller=answer.controller_id if answer.controller_id >= 0 and not kraft else None,
        alive=tuple(sorted(broker.node_id for broker in answer.brokers)),
        racks=any(broker.rack for broker in answer.brokers),
        partitions=tuple(sorted((_partition(t.name, p) for t in topics for p in t.partitions), key=_key)),
        topic_ids={topic.name: str(topic.topic_id) for topic in topics},
        advertised={broker.node_id: (broker.host, broker.port) for broker in answer.brokers},
        kraft=kraft,
    )


def current(views: Sequence[ClusterView]) -> tuple[ClusterView, ...]:
    """Return the views of the brokers that belong to the cluster, the controller's own first; may be empty.

    These are the ones that name the majority's controller, in KRaft the majority's live brokers. In a tie the side with
    newer leader epochs wins, because the other side missed changes.
    """
    if not views:
        return ()
    votes = Counter(one.side for one in views)
    ages = {name: sum(_epochs(one) for one in views if one.side == name) / votes[name] for name in votes}
    elected = max(votes, key=lambda name: (votes[name], ages[name], name is not None))
    return tuple(sorted((v for v in views if v.side == elected), key=lambda v: (v.asked != elected, v.asked)))


def partitions(views: Sequence[ClusterView]) -> tuple[PartitionView, ...]:
    """Return every partition that the cluster knows, by topic and number.

    The newest leader epoch wins, from any broker; at the same epoch the majority's view, and in a tie the controller's
    side.
    """
    inside = current(views)
    outside = [one for one in views if one not in inside]
    known: dict[_Key, list[PartitionView]] = {_key(p): [] for one in inside for p in one.partitions}
    for one in (*inside, *outside):
        for partition in one.partitions:
            known.get(_key(partition), []).append(partition)
    return tuple(_newest(known[key]) for key in sorted(known))


def _newest(said: Sequence[PartitionView]) -> PartitionView:
    """Choose among the answers about one partition, the cluster's own first."""
    newest = max(one.leader_epoch for one in said)
    votes = Counter(one for one in said if one.leader_epoch == newest)
    return max(votes, key=lambda one: votes[one])


def _partition(topic: str, one: Any) -> PartitionView:  # noqa: ANN401 - see view()
    return PartitionView(
        topic=topic,
        partition=one.partition_index,
        leader=one.leader_id,
        leader_epoch=one.leader_epoch,
        replicas=tuple(one.replica_nodes),
        isr=tuple(one.isr_nodes),
    )


def _key(partition: PartitionState) -> _Key:
    return (partition.topic, partition.partition)


def _epochs(one: ClusterView) -> int:
    return sum(partition.leader_epoch for partition in one.partitions)
