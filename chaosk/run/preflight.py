"""Whether a cluster is of the shape that a scenario needs; the rest of preflight is :mod:`chaosk.doctor`."""

from __future__ import annotations

from chaosk.errors import PreflightError
from chaosk.inventory import Inventory
from chaosk.scenario import ClusterShape, Size


def check_shape(shape: ClusterShape, inventory: Inventory) -> None:
    """Raise PreflightError if the cluster has too few or too many brokers or ZooKeeper nodes for the scenario."""
    wrong = [
        f"the scenario needs {_spell(size)} {what}, {inventory.name} has {have}"
        for what, size, have in (
            ("brokers", shape.brokers, len(inventory.brokers)),
            ("ZooKeeper nodes", shape.zookeepers, len(inventory.zookeepers)),
        )
        if not (inventory.kraft and what == "ZooKeeper nodes")  # what needs them there is refused entry by entry
        if have < size.min or (size.max is not None and have > size.max)
    ]
    if wrong:
        raise PreflightError("; ".join(wrong) + "; name another cluster with --inventory")


def _spell(size: Size) -> str:
    if size.max is None:
        return f"at least {size.min}"
    return f"exactly {size.min}" if size.min == size.max else f"{size.min} to {size.max}"
