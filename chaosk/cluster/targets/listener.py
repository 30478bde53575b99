"""Listeners of brokers."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.errors import UsageError
from chaosk.core.suggest import instead
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target
from chaosk.spec.expression import parse_target


class BrokerListener(Target):
    """A listener by its name in the inventory, of some brokers or of all that have it."""

    spelling: ClassVar[str] = "listener(NAME[, TARGET])"
    example: ClassVar[str] = "listener(CLIENT, leader(orders, 0))"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"listener"})

    name: str
    """The listener's name, as in ``advertised.listeners``."""
    of: str = "brokers"
    """A target that names brokers."""

    def nested(self) -> tuple[str, ...]:
        """The target that names the brokers."""
        return (self.of,)

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return that listener of each of the brokers that has it, in their order.

        Raises UsageError if no broker of the inventory has such a listener, or if the target names no brokers.
        """
        brokers = scene.inventory.brokers
        known = {name for broker in brokers.values() for name in broker.listeners}
        if self.name not in known:
            raise UsageError(f"listener {self.name}: no broker has it; {instead(self.name, known)}")
        nodes = parse_target(self.of).resolve(scene)
        if any(node.kind != "broker" for node in nodes):
            raise UsageError(f"listener({self.name}, {self.of}): only brokers have listeners; name brokers there")
        return tuple(
            Node(kind="listener", id=f"{self.name}/{node.id}", host=node.host)
            for node in nodes
            if self.name in brokers[int(node.id)].listeners
        )
