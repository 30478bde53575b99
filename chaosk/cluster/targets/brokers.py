"""All brokers."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import broker_nodes
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class AllBrokers(Target):
    """Every broker of the inventory, dead or alive, by id."""

    spelling: ClassVar[str] = "brokers"
    example: ClassVar[str] = "brokers"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})
    static: ClassVar[bool] = True

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return all of them, ascending."""
        return broker_nodes(scene.inventory, sorted(scene.inventory.brokers))
