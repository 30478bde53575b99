"""The brokers of one rack."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import broker_nodes
from chaosk.core.errors import UsageError
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class Rack(Target):
    """The brokers of a rack, dead or alive, by id, according to `rack` in the inventory."""

    spelling: ClassVar[str] = "rack(NAME)"
    example: ClassVar[str] = "rack(a)"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})
    static: ClassVar[bool] = True

    name: str
    """The rack's name, as in ``broker.rack``."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return its brokers, ascending; raises UsageError for a rack without brokers."""
        brokers = scene.inventory.brokers
        found = [number for number, one in sorted(brokers.items()) if one.rack == self.name]
        if not found:
            racks = sorted({one.rack for one in brokers.values() if one.rack is not None})
            known = f"racks are {', '.join(racks)}" if racks else "no broker of the inventory has a `rack`"
            raise UsageError(f"rack({self.name}): no broker is in it; {known}")
        return broker_nodes(scene.inventory, found)
