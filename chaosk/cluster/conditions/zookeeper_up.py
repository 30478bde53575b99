"""A ZooKeeper node serves."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.errors import UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode


class ZooKeeperUp(Condition):
    """A ZooKeeper node serves: it reports its mode, which only a member of a quorum or a standalone node does."""

    spelling: ClassVar[str] = "zookeeper_up(ID)"
    example: ClassVar[str] = "zookeeper_up(1)"
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write controller_up(ID)")

    id: int
    """ZooKeeper id."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask the node once."""
        if self.id not in inventory.zookeepers:
            raise UsageError(f"zookeeper_up({self.id}): the inventory has no such ZooKeeper node")
        mode = live.zookeeper_modes().get(self.id)
        return Answer(holds=mode is not None, seen=f"ZooKeeper {self.id}: {mode or 'does not serve'}")
