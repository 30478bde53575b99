"""Exempt SSH from cuts: chaosk heals over it. Pure; ``cut.sh`` also passes SSH before all other rules."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.core.errors import StepError
from chaosk.hosts.firewall.party import Party
from chaosk.spec.inventory import Inventory

SSH = 22
"""Default port of SSH."""


def refuse_ssh(inventory: Inventory, parties: Iterable[Party]) -> None:
    """Raise StepError if a process or listener to be cut uses the SSH port of its host."""
    for party in parties:
        port = inventory.hosts[party.host].port if party.host is not None else None
        if any(door.port == port for door in party.doors):
            raise StepError(
                f"a {party.kind} on {party.host} listens at port {port}, which is SSH there: chaosk heals by it and "
                "never cuts it; correct the port in the inventory"
            )
