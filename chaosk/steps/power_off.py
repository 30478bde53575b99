"""Cut the power of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import power
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import Host
from chaosk.steps._host_steps import DOWN, HostStep


class PowerOff(HostStep):
    """Cut a host's power without a shutdown: data that it had not written to disk are lost.

    The host's power switch in the inventory is used (`hosts.NAME.power`). It takes once the switch reports off and no
    SSH server answers there. The undo switches the host on, waits until it answers, and starts the servers that did not
    start with it. The machine that runs chaosk keeps the lease, because a host that is off cannot act: if chaosk dies,
    a process that it has left there switches the host on.
    """

    lasting: ClassVar[bool] = True
    switch: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
power_off: {target: "host(leader(orders, 0))"}
for: 30s
"""

    def inject(self, site: Site) -> Iterator[Deed]:
        """Switch each host off."""
        for name in self.hosts(site):
            yield Run(command=power.off(site.inventory.hosts[name]))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the switch reports off, and that this host is silent."""
        for name in self.hosts(site):
            at = site.inventory.hosts[name]
            yield Fact(says=f"the power of {name} is off", query=power.is_off(at), steady=False)
            yield Fact(says=f"{name} is silent", query=power.is_silent(at), within=DOWN)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Switch all of the hosts on first, so that they boot at the same time."""
        for name in self.hosts(site):
            yield Run(command=power.on(site.inventory.hosts[name]))
        yield from super().undo(site)

    def grace(self, host: Host) -> float:
        """Return the boot time: the host has just been switched on."""
        return host.boots_within
