"""Checks before a gate with parallel runs: suitable clusters and enough memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

from chaosk.core.errors import LabError, UsageError
from chaosk.document import load_inventory
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Scenario

MOST_LABS = 9
"""The longest names derived from a lab's name have room for one more digit."""
MEMORY_PER_RUN = 1_300
"""Resident megabytes of chaosk, its probes and watcher, and Spark, while a run is judged."""


def count(inventories: Sequence[Path], asked: int | None) -> int:
    """Return the number of parallel runs; raises UsageError if the clusters do not permit it."""
    if not inventories:
        if asked is not None and asked > MOST_LABS:
            raise UsageError(f"--side-by-side {asked}: at most {MOST_LABS} labs on one machine")
        return asked or 1
    if asked is not None and asked > len(inventories):
        raise UsageError(
            f"--side-by-side {asked}: a cluster has one run at a time, and --inventory names {len(inventories)}; "
            "name more clusters, or ask for fewer runs"
        )
    loaded = [(path, load_inventory(path)) for path in inventories]
    for (path, one), (beside, other) in combinations(loaded, 2):
        if _same(one, other):
            raise UsageError(f"{path} and {beside} are the same cluster, or have a host in common; name it once")
        if (was := _shape(one)) != (now := _shape(other)):
            raise UsageError(
                f"clusters side by side have to be alike, as any of them runs any scenario: {path} has {was}, {beside} "
                f"{now}; give those of one shape a gate"
            )
    return asked or len(inventories)


def check_room(scenarios: Iterable[Scenario], inventories: Sequence[Path], side_by_side: int) -> None:
    """Raise LabError if this machine lacks the memory for so many parallel runs and labs."""
    from chaosk.lab.preflight import free_memory, memory  # noqa: PLC0415 - loads the lab
    from chaosk.run.cluster_choice import layout_for  # noqa: PLC0415 - as above

    if side_by_side == 1:
        return
    wanted = [each for each in map(load_inventory, inventories) if isinstance(each, LabLayout)]
    needed = MEMORY_PER_RUN * side_by_side + sum(memory(each) for each in wanted if not _is_up(each))
    if not inventories:
        labs = [layout_for(each) for each in scenarios]
        together = max((memory(lab) for lab in labs if lab.hosts != "vms"), default=0) * side_by_side
        needed += max(together, *(memory(lab) for lab in labs if lab.hosts == "vms"), 0)
    if (free := free_memory()) < needed:
        raise LabError(
            f"--side-by-side {side_by_side}: so many runs, with their labs, need about {needed} MB of memory; {free} "
            "MB are free; ask for fewer, or take labs down that are not needed: chaosk lab status, chaosk lab down"
        )


def _is_up(layout: LabLayout) -> bool:
    from chaosk import lab  # noqa: PLC0415 - as above

    return lab.inventory(layout.name).exists()


def _same(one: Inventory | LabLayout, other: Inventory | LabLayout) -> bool:
    """Return True if they share a host, judged by names and addresses: hosts in different networks are different."""
    if isinstance(one, LabLayout) or isinstance(other, LabLayout):
        return _network(one) == _network(other)
    return bool(_hosts(one) & _hosts(other))


def _network(one: Inventory | LabLayout) -> str | None:
    from chaosk.lab.state import PREFIX  # noqa: PLC0415 - as above

    return PREFIX + one.name if isinstance(one, LabLayout) else one.network_namespace


def _hosts(one: Inventory) -> set[tuple[str | None, str, int]]:
    return {(one.network_namespace, host.address, host.port) for host in one.hosts.values()}


def _shape(one: Inventory | LabLayout) -> str:
    """Describe the number of servers of each kind."""
    from chaosk.campaign.gate.attempts import shape, shape_of  # noqa: PLC0415 - as above
    from chaosk.lab.lab import describe  # noqa: PLC0415 - as above
    from chaosk.lab.state import of  # noqa: PLC0415 - as above

    if isinstance(one, Inventory):
        return shape(one)
    roles = [each.role for each in describe(one, of(one.name)).services]
    return shape_of(*(roles.count(each) for each in ("broker", "zookeeper", "controller")))
