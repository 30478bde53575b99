"""Examination of the probes' own login, and of ACLs that a scenario withdraws from it."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import probe_settings
from chaosk.cluster.wire import PATIENCE
from chaosk.core.errors import ChaoskError
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok
from chaosk.spec.contracts.live import Live
from chaosk.spec.contracts.step import Site
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry, Scenario
from chaosk.steps.deny_access import DenyAccess

_TODO = "see docs/own-cluster.md, or run it on a lab with `secure: true`"


def rights(live: Live, inventory: Inventory, scenario: Scenario | None) -> Iterator[Diagnostic]:
    """Yield findings about the probes' login, and about the rights that a scenario withdraws; changes nothing."""
    if inventory.probe_client:
        yield _login(inventory)
    for entry in scenario.timeline if scenario is not None else ():
        if isinstance(entry.step, DenyAccess):
            yield _withdrawn(live, inventory, entry)


def _login(inventory: Inventory) -> Diagnostic:
    try:
        with Brokers(inventory, probe_settings(inventory), PATIENCE) as brokers:
            brokers.views()
    except ChaoskError as error:
        return bad("cluster", "probes", str(error), "correct `probe_client`, or that user's credentials in the cluster")
    return ok("cluster", "probes", "get in with a login of their own")


def _withdrawn(live: Live, inventory: Inventory, entry: Entry) -> Diagnostic:
    site = Site(inventory=inventory, run_id="doctor", entry=entry.name, aims={})
    try:
        found = {one.of: live.settings(one.of) for one in entry.step.changes(site)}
    except ChaoskError as error:
        return bad("cluster", entry.kind, str(error), _TODO)
    return ok("cluster", entry.kind, "; ".join(f"{of}: {', '.join(acls) or 'none'}" for of, acls in found.items()))
