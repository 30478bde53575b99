"""What each broker says of the cluster, and what to believe when they disagree.

A broker that is cut off from its peers goes on saying what it last knew. So facts are taken from the brokers that
name the controller most of the others name; and a partition's leader from the answer with the newest leader epoch.
In KRaft a broker names any broker as the controller: there those are believed that name the same brokers as alive as
most others.
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
_FINE = frozenset({0, 5, 9})  # none, LEADER_NOT_AVAILABLE (says so by leader -1), REPLICA_NOT_AVAILABLE
_UNKNOWN_TOPIC = 3


class PartitionView(PartitionState):
    """One partition as one broker describes it."""

    leader_epoch: int = NO_EPOCH
    """Goes up with each leader; -1 if the broker does not tell."""


@dataclass(frozen=True, slots=True)
class View:
    """What one broker says of the cluster."""

    asked: int
    """The broker that says so."""
    controller: int | None
    """None as well in KRaft, where no broker tells."""
    alive: tuple[int, ...]
    """The brokers it holds to be alive, ascending."""
    racks: bool
    """Whether any of them has a rack."""
    partitions: tuple[PartitionView, ...]
    """Of the topics it was asked about and knows; by topic and number."""
    topic_ids: dict[str, str]
    """By name the id of every topic it knows, of those asked about."""
    advertised: dict[int, tuple[str, int]] = field(default_factory=dict)
    """By broker the host and port that it tells clients to come to."""
    kraft: bool = False
    """Whether the cluster is in KRaft mode."""

    @property
    def side(self) -> object:
        """What tells apart those that have lost sight of each other: whom they hold to be the controller, or alive."""
        return self.alive if self.kraft else self.controller


def metadata_request(topics: Sequence[str] | None) -> MetadataRequest:
    """Ask for some topics (none: only the brokers), or with None for all; creates nothing."""
    names = None if topics is None else [MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics]
    return MetadataRequest(topics=names, allow_auto_topic_creation=False, version=12)


def view(asked: int, answer: Any, *, kraft: bool = False) -> View:  # noqa: ANN401 - kafka-python makes answers at run time
    """A broker's view from its answer to :func:`metadata_request`; raises ClusterError if it refuses to tell."""
    topics = [topic for topic in answer.topics if topic.error_code != _UNKNOWN_TOPIC]
    for topic in topics:
        if topic.error_code not in _FINE:
            raise ClusterError(f"broker {asked} does not describe topic {topic.name}: Kafka error {topic.error_code}")
    return View(
        asked=asked,
        controller=answer.controller_id if answer.controller_id >= 0 and not kraft else None,
        alive=tuple(sorted(broker.node_id for broker in answer.brokers)),
        racks=any(broker.rack for broker in answer.brokers),
        partitions=tuple(sorted((_partition(t.name, p) for t in topics for p in t.partitions), key=_key)),
        topic_ids={topic.name: str(topic.topic_id) for topic in topics},
        advertised={broker.node_id: (broker.host, broker.port) for broker in answer.brokers},
        kraft=kraft,
    )


def current(views: Sequence[View]) -> tuple[View, ...]:
    """The views of the brokers that belong to the cluster, the controller's own first; empty for none.

    Those are the ones that name the controller that most name, in KRaft the same brokers as alive. Of equally many the
    side wins that knows newer leader epochs: the other side is the one that missed something.
    """
    if not views:
        return ()
    votes = Counter(one.side for one in views)
    ages = {name: sum(_epochs(one) for one in views if one.side == name) / votes[name] for name in votes}
    elected = max(votes, key=lambda name: (votes[name], ages[name], name is not None))
    return tuple(sorted((v for v in views if v.side == elected), key=lambda v: (v.asked != elected, v.asked)))


def partitions(views: Sequence[View]) -> tuple[PartitionView, ...]:
    """Every partition that the cluster knows, by topic and number.

    The newest leader epoch wins, whoever names it; at the same epoch what most of the cluster says, and of equally
    many the side of the controller.
    """
    inside = current(views)
    outside = [one for one in views if one not in inside]
    known: dict[_Key, list[PartitionView]] = {_key(p): [] for one in inside for p in one.partitions}
    for one in (*inside, *outside):
        for partition in one.partitions:
            known.get(_key(partition), []).append(partition)
    return tuple(_newest(known[key]) for key in sorted(known))


def _newest(said: Sequence[PartitionView]) -> PartitionView:
    """Of the answers about one partition, the cluster's own first."""
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


def _epochs(one: View) -> int:
    return sum(partition.leader_epoch for partition in one.partitions)
