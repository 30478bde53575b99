"""A host by name, or the hosts that other targets run on."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import host_node
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target
from chaosk.spec.expression import parse_target, targets


class OneHost(Target):
    """A host by its name in the inventory, or every host on which a node of another target runs.

    Where a host is named like a kind of target (``controller``), the target is meant.
    """

    spelling: ClassVar[str] = "host NAME, or host(TARGET)"
    example: ClassVar[str] = "host(leader(orders, 0))"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"host"})

    of: str
    """A host's name, or a target."""

    def nested(self) -> tuple[str, ...]:
        """The target, if it is one."""
        named = not any(sign in self.of for sign in "( ") and self.of not in targets()
        return () if named else (self.of,)

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """That host, or the hosts of the nodes in their order, each once; empty if none of them runs on a host."""
        if not self.nested():
            return (host_node(scene.inventory, self.of),)
        nodes = parse_target(self.of).resolve(scene)
        names = dict.fromkeys(node.host for node in nodes if node.host is not None)
        return tuple(host_node(scene.inventory, name) for name in names)
