"""A controller takes part in the quorum."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.errors import UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode


class ControllerUp(Condition):
    """A KRaft controller leads the quorum, or fetches from its leader."""

    spelling: ClassVar[str] = "controller_up(ID)"
    example: ClassVar[str] = "controller_up(101)"
    needs: ClassVar[RequiredMode | None] = RequiredMode("kraft", "write zookeeper_up(ID)")

    id: int
    """Node id."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask the quorum's leader once, through the brokers."""
        if self.id not in inventory.voters():
            raise UsageError(f"controller_up({self.id}): the inventory has no such controller")
        role = live.controller_roles().get(self.id)
        return Answer(holds=role is not None, seen=f"controller {self.id}: {role or 'takes no part in the quorum'}")
