"""Reset the connections between two groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.hosts.commands import reset
from chaosk.hosts.firewall.rules import ARRIVING, Rule, rules
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._groups import Groups, is_everyone


class ResetConnections(Groups):
    """Reset every established TCP connection between two groups, once; new ones are accepted at once.

    A restarted firewall between them, or a load balancer that lost its state, has this effect. The groups are those of
    cut_network, and the connections are those that a cut would stop: between hosts all of them, for a process those to
    and from the ports that it serves. All probes share chaosk's machine, so its other connections to the cluster end as
    well, but never SSH. To reset repeatedly, use `repeat`.

    The kernel of the first group's hosts does it, or of the second's if the first has none (`ss -K`): it drops the
    connection and sends a reset to the peer. It takes once each host has reset at least one connection, and all that it
    had are gone. If a host has none, the step does not take, and the run is INCONCLUSIVE.

    Refused for a kernel without `CONFIG_INET_DIAG_DESTROY`: those of most distributions have it, that of the lab's
    virtual machines does not.
    """

    lasting: ClassVar[bool] = False
    harmless: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
reset_connections: {between: ["leader(orders, 0)", probes]}
"""

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the kernels can end connections."""
        yield from _able(node.host for node in site.nodes(*self.targets()) if node.host)

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the kernels can end connections."""
        yield from _able(self._rules(site))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Run one command a host, which lists the connections before and after."""
        for host, meant in self._rules(site).items():
            yield Run(command=reset.end(host, meant))

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify nothing more: the command fails unless all are gone, and leaves nothing to check later."""
        yield from ()

    def _rules(self, site: Site) -> dict[str, tuple[Rule, ...]]:
        """Return by host the rules that match incoming packets of these connections.

        Raises StepError if no connection between the groups is possible.
        """
        a, b = self.groups(site)
        if is_everyone(a):
            a, b = b, a
        every = rules(*self.sides(site, a, b), "both")
        if not every:
            raise StepError(f"{site.entry}: neither of the groups connects to the other; name groups that do")
        return {host: tuple(rule for rule in those if rule.side == ARRIVING) for host, those in every.items()}


def _able(hosts: Iterator[str] | dict[str, tuple[Rule, ...]]) -> Iterator[Fact]:
    for host in dict.fromkeys(hosts):
        yield Fact(says=f"the kernel of {host} can end connections on request", query=reset.fits(host))
