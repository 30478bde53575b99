"""What steps that take a whole host down have in common: which hosts, what is refused, and how they come back."""

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
"""Seconds until a host that was ended is silent."""
HANGS = 10.0
"""Seconds of silence after which a host that should be up is switched off and on."""


class HostStep(PerHostStep, ABC):
    """A step on each of the hosts that a target names, or on which what it names runs, as a whole.

    Every server there is away with it. What comes back is another boot: what else was in place on the host would not
    have lasted, so nothing else may be.
    """

    switch: ClassVar[bool]
    """Whether it takes a power switch."""

    def refused(self, inventory: Inventory, host: str) -> str | None:
        """A host is taken down only if its inventory says how it comes up again, or that it does so by itself."""
        at = inventory.hosts[host]
        if self.switch and at.power is None:
            return (
                f"{host} has no power switch in the inventory; if it has one, write it as hosts.{host}.power: "
                "{switch_off, switch_on, state}, or aim at a host that has; in a lab: chaosk lab up --hosts vms"
            )
        return shared(inventory, host)

    def hosts(self, site: Site) -> tuple[str, ...]:
        """The hosts, each once; raises StepError for what runs on none of them, and for a host that is refused."""
        names = super().hosts(site)
        for name in names:
            if (why := self.refused(site.inventory, name)) is not None:
                raise StepError(f"{site.entry}: {why}")
        return names

    def down(self, site: Site) -> Iterator[str]:
        """All of them."""
        yield from self.hosts(site)

    def harm(self, site: Site) -> Iterator[Harm]:
        """All that runs on them is away."""
        nodes = [Node(kind="host", id=name, host=name) for name in self.hosts(site)]
        if away := servers_of(site.inventory, nodes):
            yield Harm(away=away)

    def holds(self, site: Site) -> Iterator[str]:
        """Each host as a whole; that nothing else is done to it meanwhile follows from :meth:`down`."""
        for name in self.hosts(site):
            yield f"the power of {name}"

    def servers(self, site: Site) -> tuple[Server, ...]:
        """All that runs on the hosts."""
        return on_hosts(site, self.hosts(site))

    def before(self, site: Site) -> Iterator[Fact]:
        """The switch says on, the kernel is the host's own, all servers run."""
        for name in self.hosts(site):
            at = site.inventory.hosts[name]
            if at.power is not None:
                yield Fact(says=f"the power of {name} is on", query=power.is_on(at))
            yield Fact(says=f"{name} has a kernel of its own", query=power.is_own(name, site.boot_id))
        for server in self.servers(site):
            yield server.running()

    def undo(self, site: Site) -> Iterator[Deed]:
        """Have each host answer and let chaosk in, then start what does not run."""
        for name in self.hosts(site):
            at = site.inventory.hosts[name]
            if at.power is not None:
                yield Run(command=power.revive(at, self.grace(at)))
        for name in self.hosts(site):
            yield _open(site, name)
        yield from self.started(site)

    def grace(self, host: Host) -> float:  # noqa: ARG002 - for those that override it
        """Seconds that a host may be silent while its power is on, before it is switched off and on."""
        return HANGS

    def healed(self, site: Site) -> Iterator[Fact]:
        """Each host answers, its servers run and serve."""
        for name in self.hosts(site):
            yield answering(name, site.inventory.hosts[name])
        for server in self.servers(site):
            yield from server.back()

    def started(self, site: Site) -> Iterator[Run]:
        """Start what did not come up with its host; what did is left alone."""
        for server in self.servers(site):
            yield Run(command=service.start(server.process), heals=True)


def _open(site: Site, name: str) -> Fact:
    """It lets chaosk in: its SSH server greets some seconds earlier, while it is still booting."""
    query = power.is_own(name, site.boot_id)
    return Fact(says=f"{name} lets chaosk in", query=query, within=site.inventory.hosts[name].boots_within)


def answering(name: str, host: Host) -> Fact:
    """Its SSH server answers."""
    return Fact(says=f"{name} answers", query=power.answers(host), within=host.boots_within)
