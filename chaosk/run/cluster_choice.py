"""The cluster of a run: the one of the inventory, or a lab of the shape that the scenario needs."""

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
"""Kafka version of a lab in KRaft mode."""


def layout_for(scenario: Scenario) -> LabLayout:
    """Return the smallest lab that a scenario can run on: the default one, or one with a name of its own."""
    plain, special = _counted(scenario.cluster), dressed(scenario)
    if not special:
        return plain
    layout = plain.model_copy(update=special)
    mark = hashlib.sha256(layout.model_dump_json().encode()).hexdigest()[:8]
    return layout.model_copy(update={"name": f"c-{mark}"})


def dressed(scenario: Scenario) -> dict[str, object]:
    """Return the fields of a lab's layout beyond numbers of servers that a scenario needs.

    These are settings, racks, disks, logins and versions of brokers, and host names if a step changes them.
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
    """Return a layout with the needed numbers of servers; its name contains them."""
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
    """Return the inventory to run on; starts a lab if needed, and enters its network namespace.

    ``name`` replaces the usual name of a lab for the scenario. Call it before any thread is started. Raises
    DocumentError for a wrong inventory, LabError for a lab that cannot be started.
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
