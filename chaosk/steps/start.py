"""Start servers that are down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Deed, Fact, Site
from chaosk.steps._server import each
from chaosk.steps._service_steps import ServiceStep, names_of


class StartServer(ServiceStep):
    """Start a broker, a controller or a ZooKeeper node after a stop or a kill, and wait until it serves.

    That fault is then over.
    """

    lasting: ClassVar[bool] = False
    harmless: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 40s
start: {target: broker 1}
"""
    ends: ClassVar[tuple[str, ...]] = (*names_of("stop"), *names_of("kill"))

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the server does not run."""
        for server in self.servers(site):
            yield server.gone()

    def suits(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - what does not run is nobody yet
        """Require nothing."""
        yield from ()

    def inject(self, site: Site) -> Iterator[Deed]:
        """Start each server by its service."""
        yield from each(self.servers(site), service.start)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the server runs and serves."""
        for server in self.servers(site):
            yield from server.back()
