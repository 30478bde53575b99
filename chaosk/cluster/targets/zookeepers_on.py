"""The ZooKeeper nodes that share a host with other nodes."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import zookeeper_node
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target
from chaosk.spec.expression import parse_target
from chaosk.spec.quorum import RequiredMode


class ZooKeepersOn(Target):
    """The ZooKeeper nodes on the hosts of another target, by id: those that fail with a broker's host."""

    spelling: ClassVar[str] = "zookeepers_on(TARGET)"
    example: ClassVar[str] = "zookeepers_on(leader(orders, 0))"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"zookeeper"})
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "leave it out")

    of: str
    """A target, whose hosts are meant."""

    def nested(self) -> tuple[str, ...]:
        """The target whose hosts are meant."""
        return (self.of,)

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return those nodes; empty if no ZooKeeper node runs there."""
        hosts = {node.host for node in parse_target(self.of).resolve(scene)}
        inventory = scene.inventory
        return tuple(
            zookeeper_node(inventory, number)
            for number, node in sorted(inventory.zookeepers.items())
            if node.host in hosts
        )
