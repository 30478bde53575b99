"""Shared base of steps that take whole hosts down: refusals, and the recovery of hosts and servers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.hosts.commands import power, service
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.contracts.target import Node
from chaosk.spec.harm import Harm, servers_of
from chaosk.spec.inventory import Host, Inventory
from chaosk.steps._own_kernel import shared
from chaosk.steps._per_host import PerHostStep
from chaosk.steps._server import Server, on_hosts

DOWN = 60.0
"""Time-out in seconds until an ended host is silent."""
HANGS = 10.0
"""Seconds of silence after which a host that should be up is power-cycled."""


class HostStep(PerHostStep, ABC):
    """A step that takes down each targeted host, or the host of each target.

    All servers on the host are away meanwhile. The host returns with another boot, which ends all other faults on it.
    So no other fault may be in place there.
    """

    switch: ClassVar[bool]
    """Whether the step needs a power switch."""

    def refused(self, inventory: Inventory, host: str) -> str | None:
        """Refuse a host without a needed power switch, or with a kernel that may be shared."""
        at = inventory.hosts[host]
        if self.switch and at.power is None:
            return (
                f"{host} has no power switch in the inventory; if it has one, write it as hosts.{host}.power: "
                "{switch_off, switch_on, state}, or aim at a host that has; in a lab: chaosk lab up --hosts vms"
            )
        return shared(inventory, host)

    def hosts(self, site: Site) -> tuple[str, ...]:
        """Return the hosts, without duplicates; raises StepError for a target without host, and for a refused host."""
        names = super().hosts(site)
        for name in names:
            if (why := self.refused(site.inventory, name)) is not None:
                raise StepError(f"{site.entry}: {why}")
        return names

    def down(self, site: Site) -> Iterator[str]:
        """Yield all of the hosts."""
        yield from self.hosts(site)

    def harm(self, site: Site) -> Iterator[Harm]:
        """Yield all servers on the hosts as away."""
        nodes = [Node(kind="host", id=name, host=name) for name in self.hosts(site)]
        if away := servers_of(site.inventory, nodes):
            yield Harm(away=away)

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the power of each host; :meth:`down` excludes all other faults on it."""
        for name in self.hosts(site):
            yield f"the power of {name}"

    def servers(self, site: Site) -> tuple[Server, ...]:
        """Return all servers on the hosts."""
        return on_hosts(site, self.hosts(site))

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that each host's power is on and its kernel its own, and that all servers run."""
        for name in self.hosts(site):
            at = site.inventory.hosts[name]
            if at.power is not None:
                yield Fact(says=f"the power of {name} is on", query=power.is_on(at))
            yield Fact(says=f"{name} has its own kernel", query=power.is_own(name, site.boot_id))
        for server in self.servers(site):
            yield server.running()

    def undo(self, site: Site) -> Iterator[Deed]:
        """Make each host answer and accept logins, then start the servers that do not run."""
        for name in self.hosts(site):
            at = site.inventory.hosts[name]
            if at.power is not None:
                yield Run(command=power.revive(at, self.grace(at)))
        for name in self.hosts(site):
            yield _open(site, name)
        yield from self.started(site)

    def grace(self, host: Host) -> float:  # noqa: ARG002 - for those that override it
        """Return the seconds that a host may be silent with its power on, before it is power-cycled."""
        return HANGS

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that each host answers, and that its servers run and serve."""
        for name in self.hosts(site):
            yield answering(name, site.inventory.hosts[name])
        for server in self.servers(site):
            yield from server.back()

    def started(self, site: Site) -> Iterator[Run]:
        """Start the servers that did not start with their host; running ones are not changed."""
        for server in self.servers(site):
            yield Run(command=service.start(server.process), heals=True)


def _open(site: Site, name: str) -> Fact:
    """Require that a host accepts logins: its SSH server answers some seconds earlier, while it is still booting."""
    query = power.is_own(name, site.boot_id)
    return Fact(says=f"{name} lets chaosk in", query=query, within=site.inventory.hosts[name].boots_within)


def answering(name: str, host: Host) -> Fact:
    """Require that a host's SSH server answers."""
    return Fact(says=f"{name} answers", query=power.answers(host), within=host.boots_within)
