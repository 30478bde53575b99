"""The machine that runs chaosk, as a place to run commands: it acts for hosts that are switched off."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from chaosk.spec.inventory import Inventory

HERE = "this machine"
"""Its name in place of a host's; no host can have this name."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def places(inventory: Inventory) -> tuple[str, ...]:
    """Return all places that can hold leases: this machine if it controls a power switch, then every host."""
    switched = any(host.power is not None for host in inventory.hosts.values())
    return (*((HERE,) if switched else ()), *inventory.hosts)


@cache
def boot_id() -> str:
    """Return this kernel's boot id, shared by all containers and namespaces of the machine; empty if unknown."""
    try:
        return _BOOT.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def kept(cluster: str) -> Path:
    """Return the folder in which this machine keeps the leases of a cluster; ``cluster`` is the inventory's ``name``.

    It is below ``$CHAOSK_STATE`` if set. Otherwise it is below ``/var/lib/chaosk`` for root, and below the account's
    state directory for others.
    """
    named = os.environ.get("CHAOSK_STATE")
    if named:
        root = Path(named)
    elif os.geteuid() == 0:
        root = Path("/var/lib/chaosk")
    else:
        root = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "chaosk"
    return root.absolute() / "clusters" / cluster
