"""The leader of a partition."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import Number, broker_nodes, partition
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class Leader(Target):
    """The current leader of a partition."""

    spelling: ClassVar[str] = "leader(TOPIC, PARTITION)"
    example: ClassVar[str] = "leader(orders, 0)"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    topic: str
    """The topic."""
    partition: Number
    """The partition."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return that broker; empty while the partition has no leader."""
        leader = partition(scene, self.topic, self.partition).leader
        return () if leader < 0 else broker_nodes(scene.inventory, (leader,))
