"""The brokers on other hosts than some nodes."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.cluster.targets._nodes import broker_nodes
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target
from chaosk.spec.expression import parse_target


class ApartFrom(Target):
    """Every live broker, by id, on a host without any of the named nodes: to separate roles.

    A target that currently names no node excludes no host.
    """

    spelling: ClassVar[str] = "apart_from(TARGET, …)"
    example: ClassVar[str] = "apart_from(controller, coordinator(readers))"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    of: Annotated[tuple[str, ...], Field(min_length=1)]
    """Targets."""

    def nested(self) -> tuple[str, ...]:
        """The targets."""
        return self.of

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return those brokers, ascending; may be empty."""
        taken = {node.host for text in self.of for node in parse_target(text).resolve(scene)}
        alive = set(scene.live.brokers()) & set(scene.inventory.brokers)
        return tuple(node for node in broker_nodes(scene.inventory, sorted(alive)) if node.host not in taken)
