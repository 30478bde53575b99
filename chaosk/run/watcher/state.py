"""A summary of the cluster from the watcher's last samples, for the live display."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from chaosk.cluster.quorum import Quorum
from chaosk.cluster.views import ClusterView, current, partitions
from chaosk.core.model import Model

Ids = Annotated[tuple[int, ...], Field(strict=False)]

_WIDE = 12
"""Maximum number of partitions shown individually."""


class TopicState(Model):
    """One topic; every tuple is by partition, from 0."""

    topic: str
    leaders: Ids
    """Leader of each partition; -1 for none."""
    in_sync: Ids
    """Number of replicas in sync."""
    replicas: Ids
    """Number of replicas."""

    def line(self) -> str:
        """Return the topic in one line, like ``orders: leaders 0 1 2, ISR 3/3 2/3 3/3``."""
        short = sum(have < want for have, want in zip(self.in_sync, self.replicas, strict=True))
        lost = self.leaders.count(-1)
        if len(self.leaders) > _WIDE:
            return f"{self.topic}: {len(self.leaders)} partitions, {lost} without a leader, {short} with a shrunk ISR"
        leaders = " ".join("none" if leader < 0 else str(leader) for leader in self.leaders)
        if not short:
            return f"{self.topic}: leaders {leaders}, ISR full"
        ratios = " ".join(f"{have}/{want}" for have, want in zip(self.in_sync, self.replicas, strict=True))
        return f"{self.topic}: leaders {leaders}, ISR {ratios}"


class StrainedState(Model):
    """A partition of a topic outside the scenario, without a leader or without a full ISR."""

    topic: str
    partition: int
    leader: int
    """-1 for none."""
    in_sync: int
    replicas: int


class WatcherState(Model):
    """A summary of the cluster."""

    at: int
    """Time of the summary, nanoseconds of the monotonic clock."""
    controller: int | None
    """None if there is none, or no broker answers."""
    alive: Ids
    """The brokers that the cluster considers alive; empty if no broker answers."""
    silent: Ids
    """The brokers that do not answer."""
    topics: Annotated[tuple[TopicState, ...], Field(strict=False)]
    zookeepers: dict[int, str | None]
    """Mode by ZooKeeper id; None if the node does not serve."""
    controllers: dict[int, str | None] = Field(default_factory=dict)
    """In KRaft, role in the quorum by node id; None if the node does not take part."""
    strained: Annotated[tuple[StrainedState, ...], Field(strict=False)] = ()
    """Partitions of other topics without a leader or a full ISR, if those topics are sampled."""

    def lines(self) -> tuple[str, ...]:
        """Return the state in a line for the cluster and one for each topic."""
        alive = " ".join(map(str, self.alive)) or "none"
        silent = f" (silent: {' '.join(map(str, self.silent))})" if self.silent else ""
        parts = [f"controller {'none' if self.controller is None else self.controller}", f"brokers {alive}{silent}"]
        if self.zookeepers:
            roles = ", ".join(f"{node} {mode or 'down'}" for node, mode in sorted(self.zookeepers.items()))
            parts.append(f"ZooKeeper {roles}")
        if self.controllers:
            roles = ", ".join(f"{node} {role or 'down'}" for node, role in sorted(self.controllers.items()))
            parts.append(f"quorum {roles}")
        return (", ".join(parts), *(topic.line() for topic in self.topics))


def glance(
    at: int,
    brokers: Sequence[int],
    views: Sequence[ClusterView],
    zookeepers: Mapping[int, str | None],
    topics: Collection[str] | None = None,
) -> WatcherState:
    """Summarize the views of those of ``brokers`` that answered their last request.

    ``topics``: the watched ones, None for all in the views; of others only partitions that are not whole are included.
    """
    inside = current(views)
    by_topic: dict[str, list[tuple[int, int, int]]] = {}
    known = partitions(views)
    others = [one for one in known if topics is not None and one.topic not in topics]
    for one in known:
        if topics is not None and one.topic not in topics:
            continue
        by_topic.setdefault(one.topic, []).append((one.leader, len(one.isr), len(one.replicas)))
    columns = {topic: tuple(zip(*rows, strict=True)) for topic, rows in by_topic.items()}
    return WatcherState(
        at=at,
        controller=inside[0].controller if inside else None,
        alive=inside[0].alive if inside else (),
        silent=tuple(sorted(set(brokers) - {one.asked for one in views})),
        topics=tuple(
            TopicState(topic=topic, leaders=leaders, in_sync=in_sync, replicas=replicas)
            for topic, (leaders, in_sync, replicas) in sorted(columns.items())
        ),
        zookeepers=dict(zookeepers),
        strained=tuple(
            StrainedState(
                topic=one.topic,
                partition=one.partition,
                leader=one.leader,
                in_sync=len(one.isr),
                replicas=len(one.replicas),
            )
            for one in others
            if one.leader < 0 or len(one.isr) < len(one.replicas)
        ),
    )


def with_quorum(seen: WatcherState, said: Quorum | None) -> WatcherState:
    """Add the quorum leader's answer: in KRaft brokers do not report the controller."""
    found = (
        {"controller": None, "controllers": {}}
        if said is None
        else {"controller": said.leader, "controllers": said.roles}
    )
    return seen.model_copy(update=found)
