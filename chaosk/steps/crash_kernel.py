"""Crash the kernel of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import power
from chaosk.hosts.lease import lease_id
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._host_steps import DOWN, HostStep


class CrashKernel(HostStep):
    """Crash a host's kernel (sysrq c): it panics, and closes no connection.

    It takes once no SSH server answers there any more. What then happens is the host's own matter: with
    `kernel.panic` above 0 or a crash kernel loaded it boots again by itself, else it hangs. The undo has it answer: a
    host with a power switch that is still silent is switched off and on. One without a switch is refused unless it
    boots again by itself. Refused also unless the host proves that its kernel is its own, as for reboot.
    """

    lasting: ClassVar[bool] = True
    switch: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 10s
crash_kernel: {target: "host(leader(orders, 0))"}
for: 30s
"""

    def before(self, site: Site) -> Iterator[Fact]:
        """As for all hosts that are taken down; and that one without a switch comes back by itself."""
        yield from super().before(site)
        for name in self.hosts(site):
            if site.inventory.hosts[name].power is None:
                yield Fact(says=f"{name} boots again after a panic", query=power.returns(name, site.boot_id))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Each host crashes itself."""
        for name in self.hosts(site):
            yield Run(command=power.end(name, site.boot_id, lease_id(site.run_id, site.entry), "crash"))

    def verify(self, site: Site) -> Iterator[Fact]:
        """It is silent; it may come back by itself meanwhile."""
        for name in self.hosts(site):
            query = power.is_silent(site.inventory.hosts[name])
            yield Fact(says=f"{name} is silent", query=query, within=DOWN, still=False)
