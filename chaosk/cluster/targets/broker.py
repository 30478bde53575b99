"""A broker by its id."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import Number, named_broker
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class OneBroker(Target):
    """The broker of that id, in any state."""

    spelling: ClassVar[str] = "broker ID"
    example: ClassVar[str] = "broker 2"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})
    static: ClassVar[bool] = True

    id: Number
    """Broker id."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return that broker; raises UsageError if the inventory does not have it."""
        return (named_broker(scene.inventory, self.id),)
