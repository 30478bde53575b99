"""A test cluster on this machine: real Kafka, real SSH, real iptables, in a network without a route to the outside.

::

    LabLayout -> lab.describe -> seats, services, files   pure
              -> build.up     -> NamespaceHosts, VmHosts  keeper, hosts, services; then the inventory
    inventory.yaml            -> the rest of chaosk       which does not know that this is a lab
"""

from __future__ import annotations

from pathlib import Path

from chaosk.lab import state
from chaosk.lab.build import up
from chaosk.lab.namespace import enter
from chaosk.lab.purge import purge
from chaosk.lab.remove import down
from chaosk.lab.status import LabStatus, status

__all__ = ["LabStatus", "down", "enter", "inventory", "purge", "status", "up"]


def inventory(name: str) -> Path:
    """Return the path of a lab's inventory, which exists once the lab is up."""
    return state.of(name).inventory
