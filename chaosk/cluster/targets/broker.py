"""A broker by its id."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import Number, named_broker
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class OneBroker(Target):
    """The broker of that id, whatever its state."""

    spelling: ClassVar[str] = "broker ID"
    example: ClassVar[str] = "broker 2"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})
    static: ClassVar[bool] = True

    id: Number
    """Broker id."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """That one broker; raises UsageError if the inventory has none of that id."""
        return (named_broker(scene.inventory, self.id),)
