"""SSH is never cut: it is the way by which chaosk heals. Pure; ``cut.sh`` lets it through first besides."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.core.errors import StepError
from chaosk.hosts.firewall.party import Party
from chaosk.spec.inventory import Inventory

SSH = 22
"""The port where SSH answers unless an inventory says otherwise."""


def refuse_ssh(inventory: Inventory, parties: Iterable[Party]) -> None:
    """Raise StepError if a process or listener that is to be cut is served at the SSH port of its own host."""
    for party in parties:
        port = inventory.hosts[party.host].port if party.host is not None else None
        if any(door.port == port for door in party.doors):
            raise StepError(
                f"a {party.kind} on {party.host} listens at port {port}, which is SSH there: chaosk heals by it and "
                "never cuts it; correct the port in the inventory"
            )
