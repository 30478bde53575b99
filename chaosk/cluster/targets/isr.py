"""The in-sync replicas of a partition."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import Number, broker_nodes, partition
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class InSyncReplicas(Target):
    """The brokers in a partition's current ISR, including its leader, by id."""

    spelling: ClassVar[str] = "isr(TOPIC, PARTITION)"
    example: ClassVar[str] = "isr(orders, 0)"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    topic: str
    """The topic."""
    partition: Number
    """The partition."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return those brokers, ascending."""
        return broker_nodes(scene.inventory, sorted(partition(scene, self.topic, self.partition).isr))
