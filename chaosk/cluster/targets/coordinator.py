"""The coordinator of a consumer group."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import broker_nodes
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class Coordinator(Target):
    """The current coordinator of a consumer group."""

    spelling: ClassVar[str] = "coordinator(GROUP)"
    example: ClassVar[str] = "coordinator(readers)"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    group: str
    """The consumer group."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return that broker; empty while the group has no coordinator."""
        named = scene.live.coordinator(self.group)
        return () if named is None else broker_nodes(scene.inventory, (named,))
