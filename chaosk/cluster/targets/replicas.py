"""All replicas of a partition."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import Number, broker_nodes, partition
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class Replicas(Target):
    """The assigned brokers of a partition, the preferred leader first."""

    spelling: ClassVar[str] = "replicas(TOPIC, PARTITION)"
    example: ClassVar[str] = "replicas(orders, 0)"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    topic: str
    """The topic."""
    partition: Number
    """The partition."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return those brokers, in sync or not."""
        return broker_nodes(scene.inventory, partition(scene, self.topic, self.partition).replicas)
