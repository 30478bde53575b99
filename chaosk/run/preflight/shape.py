"""Comparison of a cluster with a scenario's required shape; the rest of preflight is :mod:`chaosk.run.preflight`."""

from __future__ import annotations

from chaosk.core.errors import PreflightError
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import ClusterShape, Size

_MODES = {"zookeeper": "with ZooKeeper", "kraft": "in KRaft mode"}


def check_shape(shape: ClusterShape, inventory: Inventory) -> None:
    """Raise PreflightError if the mode is the other one, a rack has no broker, or a number does not match."""
    if shape.mode is not None and (shape.mode == "kraft") != inventory.kraft:
        raise PreflightError(
            f"the scenario needs a cluster {_MODES[shape.mode]}, {inventory.name} is one "
            f"{_MODES['kraft' if inventory.kraft else 'zookeeper']}; name another cluster with --inventory"
        )
    metadata = (  # entries that need the other mode's servers are refused one by one
        ("controllers that are no brokers", shape.controllers, len(inventory.controllers))
        if inventory.kraft
        else ("ZooKeeper nodes", shape.zookeepers, len(inventory.zookeepers))
    )
    wrong = [
        f"the scenario needs {_spell(size)} {what}, {inventory.name} has {have}"
        for what, size, have in (("brokers", shape.brokers, len(inventory.brokers)), metadata)
        if have < size.min or (size.max is not None and have > size.max)
    ]
    missing = sorted({*shape.racks} - {broker.rack for broker in inventory.brokers.values()})
    wrong += [f"the scenario needs brokers in rack {rack}, {inventory.name} has none there" for rack in missing]
    wrong += _too_few_disks(shape, inventory)
    wrong += _too_open(shape, inventory)
    if wrong:
        raise PreflightError("; ".join(wrong) + "; name another cluster with --inventory")


def _too_few_disks(shape: ClusterShape, inventory: Inventory) -> list[str]:
    """Return the first broker with too few data directories, in words; an inventory need not list a single one."""
    have = {number: len(broker.data) for number, broker in inventory.brokers.items()}
    few = next((number for number, count in have.items() if max(1, count) < shape.data_dirs), None)
    if few is None:
        return []
    needed = f"the scenario needs {shape.data_dirs} data directories of each broker"
    return [f"{needed}, broker {few} of {inventory.name} has {have[few]} in `data`"]


def _too_open(shape: ClusterShape, inventory: Inventory) -> list[str]:
    """Return the missing part of TLS, or of a separate login for the probes, in words."""
    spoken = str(inventory.client.get("security.protocol", "PLAINTEXT")).upper()
    if not shape.secure or (spoken.endswith("SSL") and inventory.probe_client):
        return []
    has = f"clients of {inventory.name} use {spoken}" if not spoken.endswith("SSL") else "`probe_client` is empty"
    return [f"the scenario needs TLS, and a login for the probes alone in `probe_client`; {has}"]


def _spell(size: Size) -> str:
    if size.max is None:
        return f"at least {size.min}"
    return f"exactly {size.min}" if size.min == size.max else f"{size.min} to {size.max}"
