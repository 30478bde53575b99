"""Reboot hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from chaosk.hosts.commands import power
from chaosk.hosts.lease import lease_id
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import Host
from chaosk.steps._host_steps import HostStep


class Reboot(HostStep):
    """Reboot a host, and wait until it answers and its servers serve again; several hosts at the same time.

    It takes once the host answers with another boot id than before; then servers that did not start with it are
    started. Refused unless the inventory gives the host its own kernel (`own_kernel`, or `power`) and the host confirms
    it: its boot id differs from that of the machine that runs chaosk, and it is no container.
    """

    lasting: ClassVar[bool] = False
    switch: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 10s
reboot: {target: "host(leader(orders, 0))"}
"""

    how: Literal["clean", "hard"] = "clean"
    """``clean`` stops services and writes everything to disk (`systemctl reboot`); ``hard`` resets the machine at once
    (sysrq b), and data that were not on disk are lost."""

    def inject(self, site: Site) -> Iterator[Deed]:
        """Reboot each host, wait for its return, then start the servers that do not run."""
        lease = lease_id(site.run_id, site.entry)
        for name in self.hosts(site):
            end: power.End = "reboot" if self.how == "clean" else "reset"
            yield Run(command=power.end(name, site.boot_id, lease, end))
        yield from self._booted(site)
        yield from self.started(site)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that each host was booted, and that all servers serve."""
        yield from self._booted(site)
        yield from self.healed(site)

    def grace(self, host: Host) -> float:
        """Return the boot time: the host may be rebooting."""
        return host.boots_within

    def _booted(self, site: Site) -> Iterator[Fact]:
        for name in self.hosts(site):
            query = power.has_booted(name, site.boot_id, lease_id(site.run_id, site.entry))
            yield Fact(says=f"{name} was booted", query=query, within=2 * site.inventory.hosts[name].boots_within)
