"""The machine that chaosk runs on, as a place where commands run: what has to be done for a host that is off."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from chaosk.spec.inventory import Inventory

HERE = "this machine"
"""What it is called in place of a host's name; no host can be called so."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def places(inventory: Inventory) -> tuple[str, ...]:
    """Where leases on a cluster can be: this machine, if it switches any host on again, then every host."""
    switched = any(host.power is not None for host in inventory.hosts.values())
    return (*((HERE,) if switched else ()), *inventory.hosts)


@cache
def boot_id() -> str:
    """This kernel's boot id, the same in every container and namespace of the machine; empty where it does not tell."""
    try:
        return _BOOT.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def kept(cluster: str) -> Path:
    """The folder in which this machine keeps the leases of a cluster, by the inventory's ``name``.

    Below ``$CHAOSK_STATE``, else ``/var/lib/chaosk`` for root, else the account's own state.
    """
    named = os.environ.get("CHAOSK_STATE")
    if named:
        root = Path(named)
    elif os.geteuid() == 0:
        root = Path("/var/lib/chaosk")
    else:
        root = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "chaosk"
    return root.absolute() / "clusters" / cluster
