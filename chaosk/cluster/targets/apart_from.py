"""The brokers that have nothing to do with some others."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.cluster.targets._nodes import broker_nodes
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target
from chaosk.spec.expression import parse_target


class ApartFrom(Target):
    """Every broker alive, by id, on a host that has none of the nodes named: for roles that are to be kept apart.

    A role that nobody has at the moment is in nobody's way.
    """

    spelling: ClassVar[str] = "apart_from(TARGET, …)"
    example: ClassVar[str] = "apart_from(controller, coordinator(readers))"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    of: Annotated[tuple[str, ...], Field(min_length=1)]
    """Targets."""

    def nested(self) -> tuple[str, ...]:
        """All of them."""
        return self.of

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Those brokers, ascending; empty if there are none."""
        taken = {node.host for text in self.of for node in parse_target(text).resolve(scene)}
        alive = set(scene.live.brokers()) & set(scene.inventory.brokers)
        return tuple(node for node in broker_nodes(scene.inventory, sorted(alive)) if node.host not in taken)
