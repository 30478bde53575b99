"""Examination for taking hosts down and up again: their power switches and kernels, and this machine's programs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from chaosk.core.errors import ChaoskError
from chaosk.core.parallel import parallel_map
from chaosk.hosts.commands import power
from chaosk.hosts.localhost import HERE, boot_id
from chaosk.hosts.transport._contract import Transport
from chaosk.planning.safety import possible_hosts, unfit
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok
from chaosk.run.preflight.host_requirements import HERE_TOOLS, PACKAGES
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host, Inventory
from chaosk.spec.scenario import Scenario
from chaosk.steps._host_steps import HostStep


def switches(transport: Transport, inventory: Inventory, scenario: Scenario | None) -> tuple[Diagnostic, ...]:
    """Return the findings of the hosts that a scenario takes down; without one, of all that chaosk may take down."""
    asked = [name for name in _hosts(inventory, scenario) if _may_fall(inventory.hosts[name])]
    if not asked:
        return ()
    found = parallel_map(lambda name: list(_on(transport, inventory, name)), asked)
    return (_this_machine(), *(one for each in found for one in each))


def misfits(inventory: Inventory, scenario: Scenario | None) -> Iterator[Diagnostic]:
    """Yield conflicts between the inventory and a scenario's steps."""
    for said in unfit(scenario, inventory) if scenario is not None else ():
        seen, _, todo = said.partition("; ")
        yield bad("scenario", "hosts", seen, todo)


def _hosts(inventory: Inventory, scenario: Scenario | None) -> tuple[str, ...]:
    if scenario is None:
        return tuple(inventory.hosts)
    entries = (entry for entry in scenario.timeline if isinstance(entry.step, HostStep))
    return tuple(dict.fromkeys(name for entry in entries for name in possible_hosts(entry, inventory)))


def _may_fall(host: Host) -> bool:
    return host.power is not None or host.own_kernel


def _this_machine() -> Diagnostic:
    missing = [name for name in HERE_TOOLS.split() if shutil.which(name) is None]
    if missing:
        packages = sorted({PACKAGES.get(name, name) for name in missing})
        return bad(HERE, "tools", f"there is no {', '.join(missing)}", f"install on Debian: {' '.join(packages)}")
    return ok(HERE, "tools", "all that switching hosts on again needs")


def _on(transport: Transport, inventory: Inventory, name: str) -> Iterator[Diagnostic]:
    at = inventory.hosts[name]
    if at.power is not None:
        why = _refusal(transport, power.is_on(at))
        todo = f"switch it on, or correct hosts.{name}.power in the inventory"
        yield (
            ok(name, "power", f"on, according to {at.power.state[0]}") if why is None else bad(name, "power", why, todo)
        )
    why = _refusal(transport, power.is_own(name, boot_id()))
    todo = f"use separate machines for this, and remove power and own_kernel of {name} from the inventory"
    yield ok(name, "own kernel", "a separate machine") if why is None else bad(name, "own kernel", why, todo)


def _refusal(transport: Transport, query: Command) -> str | None:
    try:
        result = transport.run(query)
    except ChaoskError as error:
        return str(error)
    return None if result.ok else result.said
