"""The controller."""

from __future__ import annotations

from typing import ClassVar

from chaosk.targets._contract import Node, Scene, Target
from chaosk.targets._nodes import broker_nodes


class Controller(Target):
    """The broker that is the cluster's controller now."""

    spelling: ClassVar[str] = "controller"
    example: ClassVar[str] = "controller"

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """That broker; empty while there is no controller."""
        named = scene.live.controller()
        return () if named is None else broker_nodes(scene.inventory, (named,))
