"""The examination that a run starts with: refusals in a fixed order, hosts and cluster examined in parallel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.hosts.heal import find
from chaosk.hosts.localhost import places
from chaosk.hosts.transport._contract import Transport
from chaosk.planning.localhost import here
from chaosk.planning.plan import Plan
from chaosk.planning.safety import refuse as refuse_unsafe
from chaosk.run.preflight.cluster import cluster
from chaosk.run.preflight.configured import configured
from chaosk.run.preflight.diagnostic import Diagnostic, fit, refuse
from chaosk.run.preflight.examination import hosts_fit
from chaosk.run.preflight.here import java
from chaosk.run.preflight.host_requirements import needs
from chaosk.run.preflight.leftovers import leftovers
from chaosk.run.preflight.rights import rights
from chaosk.run.preflight.shape import check_shape
from chaosk.run.preflight.suits import suits
from chaosk.run.preflight.switches import switches
from chaosk.run.preflight.token_server import token_server


def admit(plan: Plan, transport: Transport, brokers: Brokers, live: LiveCluster, take: Callable[[], None]) -> None:
    """Raise PreflightError if the run may not start; ``take`` takes the cluster's lock once its hosts are fit.

    Without the lock nothing is changed: the cluster is examined while the hosts are. The first problem in the order
    below is raised, whatever was found first.
    """
    scenario, inventory = plan.scenario, plan.inventory
    check_shape(scenario.cluster, inventory)
    refuse_unsafe(scenario, inventory, here(inventory))

    def of_cluster() -> list[Diagnostic]:
        ids = tuple(inventory.brokers)
        told = list(token_server(inventory))
        if not fit(told):
            return told
        return [
            *told,
            *cluster(live, brokers, inventory, scenario.topics),
            *rights(live, inventory, scenario),
            *configured(brokers, ids, scenario.configured),
        ]

    with ThreadPoolExecutor(4, "preflight") as pool:
        needed = needs(scenario, inventory)
        own = pool.submit(java)
        of_hosts = pool.submit(hosts_fit, transport, inventory, needed, thorough=False)
        of_switches = pool.submit(switches, transport, inventory, scenario)
        asked = pool.submit(of_cluster)
        refuse([own.result()])
        refuse(of_hosts.result())
        refuse(of_switches.result())
        take()
        left = pool.submit(find, transport, places(inventory))
        fitting = pool.submit(suits, transport, inventory, scenario)
        refuse(leftovers(left.result()))
        refuse(fitting.result())
        refuse(asked.result())
