"""All followers of a partition."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import Number, broker_nodes, partition
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class Followers(Target):
    """The brokers with a replica of a partition, without its current leader, in the order of its assignment."""

    spelling: ClassVar[str] = "followers(TOPIC, PARTITION)"
    example: ClassVar[str] = "followers(orders, 0)"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    topic: str
    """The topic."""
    partition: Number
    """The partition."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return those brokers, in sync or not; empty if the partition has one replica."""
        state = partition(scene, self.topic, self.partition)
        return broker_nodes(scene.inventory, (broker for broker in state.replicas if broker != state.leader))
