"""Reset the connections between two groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.hosts.commands import reset
from chaosk.hosts.firewall.rules import ARRIVING, Rule, rules
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.harm import Harm
from chaosk.steps._groups import Groups, is_everyone


class ResetConnections(Groups):
    """End every established TCP connection between two groups by a reset, once; new ones are welcome at once.

    As when a firewall between them was restarted, or a load balancer forgot what it knew. The groups are those of
    cut_network, and what a cut would stop is ended: between hosts every connection, for a process those to and from
    the ports it serves. All probes share chaosk's machine, so its other connections to the cluster end as well; SSH's
    never do. To reset again and again there is `repeat`.

    The kernel of the first group's hosts does it, or of the second's if the first has none (`ss -K`), at both ends: it
    forgets the connection, and tells the other end. It takes once each host has ended at least one connection, and none
    of those that it had is there any more. A host without any is no reset, but a run that is INCONCLUSIVE.

    Refused where a kernel cannot, because it was built without `CONFIG_INET_DIAG_DESTROY`: those of most distributions
    can, that of the lab's virtual machines cannot.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 10s
reset_connections: {between: ["leader(orders, 0)", probes]}
"""

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: every server goes on, and can be reached."""
        yield from ()

    def suits(self, site: Site) -> Iterator[Fact]:
        """The kernels can."""
        yield from _able(node.host for node in site.nodes(*self.targets()) if node.host)

    def before(self, site: Site) -> Iterator[Fact]:
        """The kernels can."""
        yield from _able(self._rules(site))

    def inject(self, site: Site) -> Iterator[Deed]:
        """One command a host, which looks before and afterwards."""
        for host, meant in self._rules(site).items():
            yield Run(command=reset.end(host, meant))

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Nothing more: the command itself fails unless all are gone, and keeps nothing that could be asked later."""
        yield from ()

    def _rules(self, site: Site) -> dict[str, tuple[Rule, ...]]:
        """By host which arriving packets are those of connections to end; raises StepError where there can be none."""
        a, b = self.groups(site)
        if is_everyone(a):
            a, b = b, a
        every = rules(*self.sides(site, a, b), "both")
        if not every:
            raise StepError(f"{site.entry}: neither of the groups connects to the other; name groups that do")
        return {host: tuple(rule for rule in those if rule.side == ARRIVING) for host, those in every.items()}


def _able(hosts: Iterator[str] | dict[str, tuple[Rule, ...]]) -> Iterator[Fact]:
    for host in dict.fromkeys(hosts):
        yield Fact(says=f"the kernel of {host} ends connections when it is told to", query=reset.fits(host))
