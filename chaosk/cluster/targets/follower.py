"""One follower of a partition."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import Number, broker_nodes, partition
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class Follower(Target):
    """The follower of a partition that is next in line for leadership.

    This is the first in-sync replica, in the order of the assignment, that is not the leader; if no follower is in
    sync, the first replica that is not the leader.
    """

    spelling: ClassVar[str] = "follower(TOPIC, PARTITION)"
    example: ClassVar[str] = "follower(orders, 0)"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    topic: str
    """The topic."""
    partition: Number
    """The partition."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return that broker; empty if the partition has one replica."""
        state = partition(scene, self.topic, self.partition)
        waiting = [broker for broker in state.replicas if broker != state.leader]
        return broker_nodes(scene.inventory, sorted(waiting, key=lambda broker: broker not in state.isr)[:1])
