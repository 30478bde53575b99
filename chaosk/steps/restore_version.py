"""Move brokers or controllers back to their former version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import service, versions
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.harm import Harm
from chaosk.steps._server import SHUTDOWN, SOON, each
from chaosk.steps._version_steps import VersionStep


class RestoreVersion(VersionStep):
    """Stop a server that ``switch_version`` has moved, and start it from its former installation.

    That fault is then over. It does the same as the undo, but at a chosen time, for example once all replicas are in
    sync. Several servers are moved one after the other.
    """

    lasting: ClassVar[bool] = False
    ends: ClassVar[tuple[str, ...]] = ("switch_version",)
    example: ClassVar[str] = """\
when: isr_full(orders)
restore_version: {target: broker 1}
"""

    def harm(self, site: Site) -> Iterator[Harm]:
        """Yield one server at a time."""
        for server, _ in self.places(site):
            yield Harm(away=(server.node,))

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the server runs, and has a former version."""
        for server, process in self.places(site):
            yield server.awake()
            yield Fact(says=f"{server.name} was switched to another version", query=versions.is_away(process))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Stop, wait until it is gone, restore the link, start, wait until it serves; then the next server."""
        for server, process in self.places(site):
            yield Run(command=service.stop(process))
            yield server.gone(SHUTDOWN)
            yield Run(command=versions.back(process))
            yield Run(command=service.start(process))
            yield from server.back()

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the server runs from its link's original target, and serves."""
        for server, process in self.places(site):
            query = versions.is_back(process)
            yield Fact(says=f"{server.name} runs its former version", query=query, within=SOON)
            yield from server.serving()

    def undo(self, site: Site) -> Iterator[Deed]:
        """Start the servers that do not run; needed only after an interruption. The links are left to the fault."""
        yield from each(tuple(server for server, _ in self.places(site)), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that all servers serve."""
        for server, _ in self.places(site):
            yield from server.back()
