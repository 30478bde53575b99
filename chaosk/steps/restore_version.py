"""Move brokers or controllers back to the version that they had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import service, versions
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.harm import Harm
from chaosk.steps._server import SHUTDOWN, SOON, each
from chaosk.steps._version_steps import VersionStep


class RestoreVersion(VersionStep):
    """Stop a server that ``switch_version`` has moved, and start it from the installation that it had before.

    That fault is then over. It is what its undo does, at a moment of one's choice: once all replicas are in sync again,
    say. Several go one after the other.
    """

    lasting: ClassVar[bool] = False
    ends: ClassVar[tuple[str, ...]] = ("switch_version",)
    example: ClassVar[str] = """\
when: isr_full(orders)
restore_version: {target: broker 1}
"""

    def harm(self, site: Site) -> Iterator[Harm]:
        """One at a time."""
        for server, _ in self.places(site):
            yield Harm(away=(server.node,))

    def before(self, site: Site) -> Iterator[Fact]:
        """It runs, and has another version to go back to."""
        for server, process in self.places(site):
            yield server.awake()
            yield Fact(says=f"{server.name} was switched to another version", query=versions.is_away(process))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Stop, see it gone, put the link back, start, see it serve; then the next."""
        for server, process in self.places(site):
            yield Run(command=service.stop(process))
            yield server.gone(SHUTDOWN)
            yield Run(command=versions.back(process))
            yield Run(command=service.start(process))
            yield from server.back()

    def verify(self, site: Site) -> Iterator[Fact]:
        """It runs from where its link led before, and serves."""
        for server, process in self.places(site):
            query = versions.is_back(process)
            yield Fact(says=f"{server.name} runs its former version", query=query, within=SOON)
            yield from server.serving()

    def undo(self, site: Site) -> Iterator[Deed]:
        """Start what does not run: there is something to do only if it broke off half-way; the rest is the fault's."""
        yield from each(tuple(server for server, _ in self.places(site)), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """All of them serve."""
        for server, _ in self.places(site):
            yield from server.back()
