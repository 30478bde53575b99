"""Start servers that are down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Fact, Site
from chaosk.steps._phases import PhasedStep, Phases
from chaosk.steps._server import back, each
from chaosk.steps._service_steps import ServiceStep, names_of


class StartServer(PhasedStep, ServiceStep):
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

    def suits(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - what does not run is nobody yet
        """Require nothing."""
        yield from ()

    def phases(self, site: Site) -> Phases:
        """Start each server, which does not run, by its service."""
        every = self.servers(site)
        return Phases(before=[server.gone() for server in every], inject=each(every, service.start), verify=back(every))
