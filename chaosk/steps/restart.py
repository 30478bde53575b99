"""Restart servers, one or several of them rolling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.units import Duration
from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Deed, Pause, Run, Site
from chaosk.spec.harm import Harm
from chaosk.steps._phases import PhasedStep, Phases
from chaosk.steps._server import SHUTDOWN, back, each
from chaosk.steps._service_steps import ServiceStep


class RestartServer(PhasedStep, ServiceStep):
    """Stop a broker, a controller or a ZooKeeper node cleanly and start it again; several of them rolling.

    The next one is stopped only when the last one serves again, and ``pause`` is over. It takes once all serve.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 10s
restart: {target: brokers, pause: 5s}
"""

    pause: Duration = 0.0
    """Pause between the return of a server and the stop of the next one."""

    def harm(self, site: Site) -> Iterator[Harm]:
        """Yield one server at a time."""
        for server in self.servers(site):
            yield Harm(away=(server.node,))

    def phases(self, site: Site) -> Phases:
        """Restart one server after the other; the undo is needed only if that was interrupted."""
        every = self.servers(site)
        return Phases(
            before=[*(server.running() for server in every), *self.suits(site)],
            inject=self._rolling(site),
            verify=back(every),
            undo=each(every, service.start),
            healed=back(every),
        )

    def _rolling(self, site: Site) -> Iterator[Deed]:
        """Stop, wait until it is gone, start, wait until it serves; then the next server."""
        for number, server in enumerate(self.servers(site)):
            if number and self.pause:
                yield Pause(seconds=self.pause)
            yield Run(command=service.stop(server.process))
            yield server.gone(SHUTDOWN)
            yield Run(command=service.start(server.process))
            yield from server.back()
