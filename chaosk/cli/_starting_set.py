"""Scenarios that fit a cluster, and the starting set that ``chaosk init`` chooses of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from chaosk.core.errors import UsageError
from chaosk.document import load_inventory, load_variants, shipped
from chaosk.run.preflight.misfit import misfit
from chaosk.spec.inventory import Inventory

SIZE = 3
"""Scenarios of a starting set."""
_CHOICES = (
    ("brokers/kill-the-leader", "brokers/broker-stop-start"),
    ("zookeeper/zookeeper-leader-stop", "controllers/controller-kill"),
    ("clients/rights-withdrawn", "groups/coordinator-kill"),
    ("groups/coordinator-kill",),
    ("transactions/transaction-coordinator-kill",),
    ("leadership/replicas-moved-under-load",),
)
"""Scenarios in the order of preference: of each line the first that fits, until there are enough."""


def fitting(files: Mapping[str, Path], inventory: Path) -> dict[str, Path]:
    """Return the scenarios that fit the cluster of an inventory in all their variants."""
    cluster = load_inventory(inventory)
    if not isinstance(cluster, Inventory):
        raise UsageError(f"{inventory}: is a lab, which is made to fit a scenario; name an inventory with hosts")
    return {name: path for name, path in files.items() if _fits(path, cluster)}


def starting_set(cluster: Inventory) -> dict[str, Path]:
    """Return scenarios to start with, by name: of brokers, of the quorum, of clients."""
    every = shipped.scenarios()
    found: dict[str, Path] = {}
    for name in _preferred(every, cluster):
        found[name] = every[name]
        if len(found) == SIZE:
            break
    return found


def _preferred(every: Mapping[str, Path], cluster: Inventory) -> Iterator[str]:
    seen: set[str] = set()
    for line in _CHOICES:
        name = next((name for name in line if name not in seen and _fits(every[name], cluster)), None)
        if name is not None:
            seen.add(name)
            yield name


def _fits(path: Path, cluster: Inventory) -> bool:
    return all(misfit(scenario, cluster) is None for scenario in load_variants(path).values())
