"""Access to the hosts of a cluster, for commands that run no scenario."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chaosk import lab
from chaosk.core.errors import UsageError
from chaosk.document import load_inventory
from chaosk.hosts.localhost import kept
from chaosk.hosts.transport.local import RoutingTransport
from chaosk.hosts.transport.ssh import Ssh, Transport
from chaosk.planning.plan import Plan
from chaosk.rundir.paths import RunDir, document
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout


def cluster_of(run_dir: Path | None, inventory: Path | None) -> tuple[Inventory, str | None]:
    """Return the cluster of a command, and its run if one is named; raises UsageError unless exactly one is named."""
    if run_dir is not None and inventory is None:
        plan = Plan.from_json(_plan(run_dir))
        return plan.inventory, plan.run_id
    if inventory is None or run_dir is not None:
        raise UsageError("name a run directory, or a cluster with --inventory; one of them")
    found = load_inventory(inventory)
    if isinstance(found, LabLayout):
        found = load_inventory(_written(found))
    if isinstance(found, LabLayout):
        raise UsageError(
            f"the lab {found.name} has no inventory file; create it with: chaosk lab up --name {found.name}"
        )
    return found, None


def _plan(run_dir: Path) -> bytes:
    """Read the plan in a run directory, and no other file: damage elsewhere must not prevent healing."""
    path = RunDir(run_dir).plan
    try:
        return document(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; name a run directory, or --inventory") from error


@contextmanager
def hosts_of(inventory: Inventory) -> Iterator[Transport]:
    """Yield a transport to hosts and this machine, inside the cluster's network namespace if it has one."""
    if inventory.network_namespace is not None:
        lab.enter(inventory.network_namespace)
    transport = RoutingTransport(Ssh(inventory.hosts), kept(inventory.name))
    try:
        yield transport
    finally:
        transport.close()


def _written(layout: LabLayout) -> Path:
    path = lab.inventory(layout.name)
    if not path.is_file():
        raise UsageError(f"the lab {layout.name} is not up, so there is nothing to reach; do: chaosk lab up")
    return path
