"""Freeze servers with SIGSTOP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Deed, Fact, Site
from chaosk.steps._server import SOON, each
from chaosk.steps._service_steps import ServiceStep


class PauseServer(ServiceStep):
    """Freeze the process of a broker, a controller or a ZooKeeper node with SIGSTOP.

    Its host lives and its connections stay open, but it does not answer. It takes once the process has the state T. The
    undo is SIGCONT.
    """

    lasting: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
pause: {target: "leader(orders, 0)"}
for: 20s
"""

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the process runs, is not frozen, and is the server of the inventory."""
        for server in self.servers(site):
            yield server.awake()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Send SIGSTOP to each process."""
        yield from each(self.servers(site), lambda process: service.signal(process, "STOP"))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the state of the process is T, stopped by a signal."""
        for server in self.servers(site):
            yield server.frozen(SOON)

    def watch(self, site: Site) -> Iterator[Fact]:
        """Check that the process stays frozen, and that the cluster does not list the server.

        The second is not verified again right before the undo: it takes a whole time-out of an answer, which would
        delay the undo.
        """
        yield from super().watch(site)
        for server in self.servers(site):
            yield from server.away()

    def undo(self, site: Site) -> Iterator[Deed]:
        """Send SIGCONT, and start the servers that have died meanwhile."""
        yield from each(self.servers(site), service.resume)
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the server runs and serves."""
        for server in self.servers(site):
            yield from server.back()
