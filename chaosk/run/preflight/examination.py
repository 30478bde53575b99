"""All examinations of a cluster, with the hosts in parallel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.cluster.wire import PATIENCE
from chaosk.core.errors import ChaoskError
from chaosk.core.parallel import parallel_map
from chaosk.hosts.heal import find
from chaosk.hosts.localhost import HERE, boot_id, places
from chaosk.hosts.transport._contract import Transport
from chaosk.run.preflight import host as hosts
from chaosk.run.preflight import kernels
from chaosk.run.preflight.cluster import cluster
from chaosk.run.preflight.configured import configured
from chaosk.run.preflight.diagnostic import Diagnostic, bad, fit
from chaosk.run.preflight.here import java
from chaosk.run.preflight.host_requirements import HostRequirements, needs
from chaosk.run.preflight.leftovers import held, holder, leftovers
from chaosk.run.preflight.rights import rights
from chaosk.run.preflight.suits import suits
from chaosk.run.preflight.switches import misfits, switches
from chaosk.run.preflight.token_server import token_server
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Scenario


def examine(transport: Transport, inventory: Inventory, scenario: Scenario | None = None) -> tuple[Diagnostic, ...]:
    """Examine everything, from inside the cluster's network; for one scenario, or for all features of chaosk."""
    found = hosts_fit(transport, inventory, needs(scenario, inventory), thorough=True)
    usable = tuple(name for name in inventory.hosts if fit(one for one in found if one.where == name))
    found += (java(), *misfits(inventory, scenario), *switches(transport, inventory, scenario))
    if fit(found):
        found += suits(transport, inventory, scenario)
    return (*found, *_left(transport, _with_here(inventory, usable)), *_cluster(inventory, scenario))


def _with_here(inventory: Inventory, usable: Iterable[str]) -> tuple[str, ...]:
    """Add this machine, if it keeps leases of its own."""
    return (*(one for one in places(inventory) if one == HERE), *usable)


def hosts_fit(
    transport: Transport, inventory: Inventory, needed: HostRequirements, *, thorough: bool
) -> tuple[Diagnostic, ...]:
    """Return the findings of every host, by host."""

    def ask(name: str) -> list[Diagnostic]:
        return list(hosts.host(transport, inventory, name, needed, thorough=thorough))

    found = tuple(one for answer in parallel_map(ask, inventory.hosts) for one in answer)
    if not needed.clocks:
        return found
    return (*found, *kernels.apart(kernels.boot_ids(transport, inventory.hosts), boot_id()))


def _left(transport: Transport, names: Iterable[str]) -> tuple[Diagnostic, ...]:
    """Return findings about the cluster's lock and leftovers, from the usable hosts."""
    asked = tuple(names)

    def ask(name: str) -> str:
        try:
            return holder(transport, name)
        except ChaoskError:
            return ""  # the search for leases reports the reason

    holders = dict(zip(asked, parallel_map(ask, asked), strict=True))
    running = frozenset(said.partition(" ")[0] for said in holders.values() if said)
    return (*held(holders), *leftovers(find(transport, asked), running))


def _cluster(inventory: Inventory, scenario: Scenario | None) -> tuple[Diagnostic, ...]:
    try:
        told = tuple(token_server(inventory))
        if not fit(told):
            return told
        with Brokers(inventory, client_settings(inventory), PATIENCE) as brokers:
            live = LiveCluster(inventory, brokers, _no_probe, PATIENCE)
            found = tuple(cluster(live, brokers, inventory, scenario.topics if scenario is not None else ()))
            found += tuple(rights(live, inventory, scenario))
            wanted = scenario.configured if scenario is not None else {}
            return (*told, *found, *configured(brokers, tuple(inventory.brokers), wanted))
    except ChaoskError as error:
        return (bad("cluster", "clients", str(error), "correct the inventory"),)


def _no_probe(name: str) -> NoReturn:
    raise ChaoskError(f"{name}: nothing runs while the cluster is examined")
