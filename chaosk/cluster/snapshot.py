"""The state of a cluster at one moment, recorded before, during and after an experiment."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import ClusterView, PartitionView, current, partitions
from chaosk.core.model import Model
from chaosk.spec.contracts.live import Live

Partitions = Annotated[tuple[PartitionView, ...], Field(strict=False)]
Ids = Annotated[tuple[int, ...], Field(strict=False)]


class LogRange(Model):
    """The extent of a partition's log."""

    topic: str
    partition: int
    begins: int
    ends: int
    """The high watermark."""


class PartitionReport(Model):
    """One broker's view of a partition."""

    broker: int
    """The broker with this view."""
    topic: str
    partition: int
    leader: int
    """-1 for none."""
    leader_epoch: int
    isr: Ids


class Snapshot(Model):
    """Topics, brokers, controllers and ZooKeeper roles, as the cluster reported them."""

    at: int
    """Time in nanoseconds of this machine's monotonic clock."""
    wall: int
    """Wall clock at that time, nanoseconds since 1970."""
    controller: int | None
    """Id of the controller, in KRaft of the quorum's leader; None if there was none."""
    brokers: Ids
    """The brokers that the cluster considered alive."""
    answering: Ids
    """The brokers that answered."""
    zookeepers: dict[int, str | None]
    """The mode by ZooKeeper id; None if the node did not serve."""
    controllers: dict[int, str | None] = Field(default_factory=dict)
    """In KRaft, the role in the quorum by node id; None if the controller took no part."""
    partitions: Partitions
    """Leader, leader epoch, replicas and ISR of the requested topics, by topic and number."""
    said: Annotated[tuple[PartitionReport, ...], Field(strict=False)] = ()
    """Brokers with another view of a partition than ``partitions``: another leader, or another leader epoch."""
    logs: Annotated[tuple[LogRange, ...], Field(strict=False)] = ()
    """Logs whose leaders answered, if requested."""
    coordinators: dict[str, int | None] = Field(default_factory=dict)
    """The coordinator by consumer group, if requested; None if there was none."""
    transaction_coordinators: dict[str, int | None] = Field(default_factory=dict)
    """The coordinator by ``transactional.id``."""
    settings: dict[str, dict[str, str]] = Field(default_factory=dict)
    """The settings on each topic itself, if requested."""


def take(brokers: Brokers, live: Live, topics: Iterable[str]) -> Snapshot:
    """Record the current state; raises ClusterError if no broker answers."""
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


def _otherwise(views: Sequence[ClusterView]) -> Iterator[PartitionReport]:
    """Yield views of a partition's leader that differ from the accepted one, by topic, partition and broker."""
    believed = {(one.topic, one.partition): (one.leader, one.leader_epoch) for one in partitions(views)}
    said = [(one.topic, one.partition, view.asked, one) for view in views for one in view.partitions]
    for topic, partition, broker, one in sorted(said, key=lambda each: each[:3]):
        if believed.get((topic, partition), (one.leader, one.leader_epoch)) != (one.leader, one.leader_epoch):
            yield PartitionReport(
                broker=broker, topic=topic, partition=partition, leader=one.leader, leader_epoch=one.leader_epoch,
                isr=one.isr,
            )  # fmt: skip
