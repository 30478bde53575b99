"""All hosts."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import host_node
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class AllHosts(Target):
    """Every host of the inventory, in its order."""

    spelling: ClassVar[str] = "hosts"
    example: ClassVar[str] = "hosts"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"host"})
    static: ClassVar[bool] = True

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return all of them."""
        return tuple(host_node(scene.inventory, host) for host in scene.inventory.hosts)
