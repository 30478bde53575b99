"""All controllers of a KRaft quorum."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target, controller_kinds, voters
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode


class AllControllers(Target):
    """Every controller of the KRaft quorum, active or not, combined nodes first."""

    spelling: ClassVar[str] = "controllers"
    example: ClassVar[str] = "controllers"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker", "controller"})
    needs: ClassVar[RequiredMode | None] = RequiredMode("kraft", "write controller, the one broker that it is")
    static: ClassVar[bool] = True

    def kinds_on(self, inventory: Inventory) -> frozenset[NodeKind]:
        """Return controllers, or brokers, or both if the quorum has both."""
        return controller_kinds(inventory)

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return all of them; empty for a cluster with ZooKeeper."""
        return voters(scene.inventory)
