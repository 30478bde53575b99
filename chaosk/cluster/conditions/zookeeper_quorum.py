"""ZooKeeper has a quorum."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.errors import UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode


class ZooKeeperQuorum(Condition):
    """More than half of the ZooKeeper nodes serve, and exactly one of them leads."""

    spelling: ClassVar[str] = "zookeeper_quorum"
    example: ClassVar[str] = "zookeeper_quorum"
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write controller_quorum")

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask every node once."""
        if not inventory.zookeepers:
            raise UsageError("zookeeper_quorum: the inventory has no ZooKeeper nodes")
        modes = live.zookeeper_modes()
        serving = [node for node, mode in modes.items() if mode is not None]
        leading = [node for node, mode in modes.items() if mode in ("leader", "standalone")]
        seen = ", ".join(f"{node} {mode or 'does not serve'}" for node, mode in sorted(modes.items()))
        return Answer(holds=len(leading) == 1 and 2 * len(serving) > len(modes), seen=f"ZooKeeper: {seen}")
