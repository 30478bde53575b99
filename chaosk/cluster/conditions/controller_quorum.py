"""The controllers have a quorum."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.errors import UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode


class ControllerQuorum(Condition):
    """More than half of a KRaft cluster's controllers take part in the quorum, and one of them leads it."""

    spelling: ClassVar[str] = "controller_quorum"
    example: ClassVar[str] = "controller_quorum"
    needs: ClassVar[RequiredMode | None] = RequiredMode("kraft", "write zookeeper_quorum")

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask the quorum's leader once, through the brokers."""
        if not inventory.kraft:
            raise UsageError("controller_quorum: a cluster with ZooKeeper has no quorum of controllers")
        roles = live.controller_roles()
        taking_part = [number for number, role in roles.items() if role is not None]
        seen = ", ".join(f"{number} {role or 'takes no part'}" for number, role in sorted(roles.items()))
        holds = "leader" in roles.values() and 2 * len(taking_part) > len(roles)
        return Answer(holds=holds, seen=f"controllers: {seen or 'none'}")
