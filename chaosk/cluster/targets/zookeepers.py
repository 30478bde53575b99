"""All ZooKeeper nodes."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import zookeeper_node
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target
from chaosk.spec.quorum import RequiredMode


class AllZooKeepers(Target):
    """Every ZooKeeper node of the inventory, serving or not, by id."""

    spelling: ClassVar[str] = "zookeepers"
    example: ClassVar[str] = "zookeepers"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"zookeeper"})
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write controllers")
    static: ClassVar[bool] = True

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return all of them, ascending; empty for a cluster without ZooKeeper."""
        return tuple(zookeeper_node(scene.inventory, node) for node in sorted(scene.inventory.zookeepers))
