"""Crash the kernel of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import power
from chaosk.hosts.lease import lease_id
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._host_steps import DOWN, HostStep


class CrashKernel(HostStep):
    """Crash a host's kernel (sysrq c): it panics, without closing any connection.

    It takes once no SSH server answers there any more. What follows depends on the host: it reboots if `kernel.panic`
    is above 0 or a crash kernel is loaded, and otherwise hangs. The undo makes the host answer: one with a power switch
    that is still silent is power-cycled. A host without a switch is refused unless it reboots after a panic. As for
    reboot, a host is also refused unless its kernel is proven to be its own.
    """

    lasting: ClassVar[bool] = True
    switch: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 10s
crash_kernel: {target: "host(leader(orders, 0))"}
for: 30s
"""

    def before(self, site: Site) -> Iterator[Fact]:
        """Require the same as for all host steps; without a switch also that the host reboots after a panic."""
        yield from super().before(site)
        for name in self.hosts(site):
            if site.inventory.hosts[name].power is None:
                yield Fact(says=f"{name} boots again after a panic", query=power.returns(name, site.boot_id))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Make each host crash itself."""
        for name in self.hosts(site):
            yield Run(command=power.end(name, site.boot_id, lease_id(site.run_id, site.entry), "crash"))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the host is silent; it may return meanwhile."""
        for name in self.hosts(site):
            query = power.is_silent(site.inventory.hosts[name])
            yield Fact(says=f"{name} is silent", query=query, within=DOWN, still=False)
