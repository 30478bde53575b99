"""Which cluster a run takes place on: the one of the inventory, or a lab of the shape the scenario needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from chaosk import lab
from chaosk.core.errors import LabError
from chaosk.document import load_inventory
from chaosk.spec.entity import spelled
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import ClusterShape, Scenario

KAFKA_WITHOUT_ZOOKEEPER = "4.2.0"
"""What a lab runs for a scenario that wants KRaft."""


def layout_for(scenario: Scenario) -> LabLayout:
    """The smallest lab that a scenario can run on: the default one, or one with a name of its own."""
    plain, special = _counted(scenario.cluster), dressed(scenario)
    if not special:
        return plain
    layout = plain.model_copy(update=special)
    mark = hashlib.sha256(layout.model_dump_json().encode()).hexdigest()[:8]
    return layout.model_copy(update={"name": f"c-{mark}"})


def dressed(scenario: Scenario) -> dict[str, object]:
    """What a lab's layout is given for what a scenario wants beyond numbers, and nothing for what it does not.

    Settings, racks, disks, logins and versions of brokers; names, where a step takes them away or has them lead
    elsewhere.
    """
    shape = scenario.cluster
    config = {name: spelled(value) for name, value in sorted(shape.config.items())}
    found: dict[str, object] = {"broker_config": config} if config else {}
    if shape.racks:
        found |= {"racks": shape.racks}
    if shape.data_dirs > 1:
        found |= {"data_dirs": shape.data_dirs}
    if shape.versions:
        found |= {"kafka": shape.versions[0], "also": shape.versions[1:]}
    if shape.secure:
        found |= {"secure": True}
    if any(entry.step.names for entry in scenario.timeline):
        found |= {"names": True}
    return found


def _counted(shape: ClusterShape) -> LabLayout:
    """By how many servers of which kind there have to be; the name says it."""
    brokers, machines = max(1, shape.brokers.min), "vm" if shape.hosts == "vms" else ""
    if shape.mode == "kraft":
        name = f"{machines}k-{brokers}-{shape.controllers.min}"
        return LabLayout(
            name=name, brokers=brokers, controllers=shape.controllers.min, kafka=KAFKA_WITHOUT_ZOOKEEPER,
            hosts=shape.hosts,
        )  # fmt: skip
    default, zookeepers = LabLayout(), max(1, shape.zookeepers.min)
    if (brokers, zookeepers, shape.hosts) == (default.brokers, default.zookeepers, default.hosts):
        return default
    name = f"{machines or 'lab'}-{brokers}-{zookeepers}"
    return LabLayout(name=name, brokers=brokers, zookeepers=zookeepers, hosts=shape.hosts)


def settle_on(
    inventory: Path | None, scenario: Scenario, say: Callable[[str], None], name: str | None = None
) -> Inventory:
    """The inventory to run on; puts a lab up where that is what it takes, and enters its network namespace.

    ``name`` is what a lab for the scenario is called, in place of its usual name. Call it before any thread is
    started. Raises DocumentError for a wrong inventory, LabError for a lab that cannot be put up.
    """
    wanted = load_inventory(inventory) if inventory is not None else _called(layout_for(scenario), name)
    if isinstance(wanted, LabLayout):
        found = load_inventory(lab.up(wanted, say))
        if isinstance(found, LabLayout):
            raise LabError(f"the lab {wanted.name} has no inventory; do: chaosk lab down --name {wanted.name}")
        wanted = found
    if wanted.network_namespace is not None:
        lab.enter(wanted.network_namespace)
    return wanted


def _called(layout: LabLayout, name: str | None) -> LabLayout:
    return layout if name is None else layout.model_copy(update={"name": name})
