"""Refuse hosts with a shared kernel, where a fault would hit the whole machine; by the inventory."""

from __future__ import annotations

from chaosk.spec.inventory import Inventory


def shared(inventory: Inventory, host: str) -> str | None:
    """Return why a host's kernel must not be touched, with a remedy; None if the inventory calls it the host's own."""
    at = inventory.hosts[host]
    if at.power is not None or at.own_kernel:
        return None
    return (
        f"the inventory does not mark {host} as a separate machine, and in a container or a namespace "
        "this would hit the whole machine; "
        f"if it is one, write hosts.{host}.own_kernel: true, or its power switch; in a lab: "
        "chaosk lab up --hosts vms"
    )
