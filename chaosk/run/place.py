"""Which cluster a run takes place on: the one of the inventory, or a lab of the shape the scenario needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from chaosk import lab
from chaosk.document import load_inventory
from chaosk.errors import LabError
from chaosk.inventory import Inventory, LabLayout
from chaosk.scenario import ClusterShape


def layout_for(shape: ClusterShape) -> LabLayout:
    """The smallest lab that a scenario can run on: the default one, or one with a name of its own."""
    brokers, zookeepers = max(1, shape.brokers.min), max(1, shape.zookeepers.min)
    default = LabLayout()
    if (brokers, zookeepers) == (default.brokers, default.zookeepers):
        return default
    return LabLayout(name=f"lab-{brokers}-{zookeepers}", brokers=brokers, zookeepers=zookeepers)


def settle_on(inventory: Path | None, shape: ClusterShape, say: Callable[[str], None]) -> Inventory:
    """The inventory to run on; puts a lab up where that is what it takes, and enters its network namespace.

    Call it before any thread is started. Raises DocumentError for a wrong inventory, LabError for a lab that cannot
    be put up.
    """
    wanted = load_inventory(inventory) if inventory is not None else layout_for(shape)
    if isinstance(wanted, LabLayout):
        found = load_inventory(lab.up(wanted, say))
        if isinstance(found, LabLayout):
            raise LabError(f"the lab {wanted.name} has no inventory; do: chaosk lab down --name {wanted.name}")
        wanted = found
    if wanted.network_namespace is not None:
        lab.enter(wanted.network_namespace)
    return wanted
