"""Take the power of hosts away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import power
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import Host
from chaosk.steps._host_steps import DOWN, HostStep


class PowerOff(HostStep):
    """Take a host's power away, with no shutdown: what it had not brought to its disk is lost.

    The host's power switch in the inventory is thrown (`hosts.NAME.power`). It takes once the switch says off and no
    SSH server answers there. The undo switches it on, waits until it answers, and starts what did not start with it.
    The lease is kept by the machine that chaosk runs on, since a host that is off can do nothing: when chaosk dies, a
    process that it has left there switches the host on.
    """

    lasting: ClassVar[bool] = True
    switch: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
power_off: {target: "host(leader(orders, 0))"}
for: 30s
"""

    def inject(self, site: Site) -> Iterator[Deed]:
        """Throw each switch."""
        for name in self.hosts(site):
            yield Run(command=power.off(site.inventory.hosts[name]))

    def verify(self, site: Site) -> Iterator[Fact]:
        """The switch says off, and it is this host that is silent."""
        for name in self.hosts(site):
            at = site.inventory.hosts[name]
            yield Fact(says=f"the power of {name} is off", query=power.is_off(at), steady=False)
            yield Fact(says=f"{name} is silent", query=power.is_silent(at), within=DOWN)

    def undo(self, site: Site) -> Iterator[Deed]:
        """First switch all of them on: they boot at the same time."""
        for name in self.hosts(site):
            yield Run(command=power.on(site.inventory.hosts[name]))
        yield from super().undo(site)

    def grace(self, host: Host) -> float:
        """It has just been switched on, and boots."""
        return host.boots_within
