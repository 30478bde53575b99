"""A host by name, or the hosts of other targets."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import host_node
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target
from chaosk.spec.expression import parse_target, targets


class OneHost(Target):
    """A host by its name in the inventory, or every host with a node of another target.

    If a host has the name of a kind of target (``controller``), the target takes precedence.
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
        """Return that host, or the hosts of the nodes in their order, each once; empty if none of them has a host."""
        if not self.nested():
            return (host_node(scene.inventory, self.of),)
        nodes = parse_target(self.of).resolve(scene)
        names = dict.fromkeys(node.host for node in nodes if node.host is not None)
        return tuple(host_node(scene.inventory, name) for name in names)
