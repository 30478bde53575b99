"""The state of a cluster at one moment: what an operator notes before, during and after an experiment."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import PartitionView, View, current, partitions
from chaosk.core.model import Model
from chaosk.spec.contracts.live import Live

Partitions = Annotated[tuple[PartitionView, ...], Field(strict=False)]
Ids = Annotated[tuple[int, ...], Field(strict=False)]


class Log(Model):
    """How far a partition's log goes."""

    topic: str
    partition: int
    begins: int
    ends: int
    """The high watermark."""


class Said(Model):
    """What one broker says of a partition."""

    broker: int
    """The broker that says so."""
    topic: str
    partition: int
    leader: int
    """-1 for none."""
    leader_epoch: int
    isr: Ids


class Snapshot(Model):
    """Topics, brokers, controllers and ZooKeeper roles, as the cluster itself held them to be."""

    at: int
    """When, nanoseconds of this machine's monotonic clock."""
    wall: int
    """The wall clock then, nanoseconds since 1970."""
    controller: int | None
    """Id of the controller, in KRaft the node that led the quorum; None if there was none."""
    brokers: Ids
    """The brokers that the cluster held to be alive."""
    answering: Ids
    """The brokers that answered by themselves."""
    zookeepers: dict[int, str | None]
    """By ZooKeeper id its mode; None where it did not serve."""
    controllers: dict[int, str | None] = Field(default_factory=dict)
    """In KRaft, by node id the role of each controller in the quorum; None where it took no part."""
    partitions: Partitions
    """Of the topics asked about: leader, leader epoch, replicas and ISR; by topic and number."""
    said: Annotated[tuple[Said, ...], Field(strict=False)] = ()
    """Who says otherwise of a partition than ``partitions`` does: another leader, or another leader epoch."""
    logs: Annotated[tuple[Log, ...], Field(strict=False)] = ()
    """Of those whose leaders told, where that was asked."""
    coordinators: dict[str, int | None] = Field(default_factory=dict)
    """By consumer group its coordinator, where that was asked; None if there was none."""
    transaction_coordinators: dict[str, int | None] = Field(default_factory=dict)
    """By ``transactional.id`` the same."""
    settings: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By topic what was set on it, where that was asked."""


def take(brokers: Brokers, live: Live, topics: Iterable[str]) -> Snapshot:
    """The state now; raises ClusterError if no broker answers."""
    at, wall = time.monotonic_ns(), time.time_ns()
    views = brokers.views(sorted(topics))
    inside = current(views)[0]
    roles = live.controller_roles()
    leading = next((number for number, role in roles.items() if role == "leader"), None)
    return Snapshot(
        at=at,
        wall=wall,
        controller=leading if inside.kraft else inside.controller,
        brokers=inside.alive,
        answering=tuple(sorted(one.asked for one in views)),
        zookeepers=live.zookeeper_modes(),
        controllers=roles,
        partitions=partitions(views),
        said=tuple(_otherwise(views)),
    )


def _otherwise(views: Sequence[View]) -> Iterator[Said]:
    """What brokers say of a partition's leader that is not what is believed; by topic, partition and broker."""
    believed = {(one.topic, one.partition): (one.leader, one.leader_epoch) for one in partitions(views)}
    said = [(one.topic, one.partition, view.asked, one) for view in views for one in view.partitions]
    for topic, partition, broker, one in sorted(said, key=lambda each: each[:3]):
        if believed.get((topic, partition), (one.leader, one.leader_epoch)) != (one.leader, one.leader_epoch):
            yield Said(
                broker=broker, topic=topic, partition=partition, leader=one.leader, leader_epoch=one.leader_epoch,
                isr=one.isr,
            )  # fmt: skip
