"""Freeze servers with SIGSTOP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Fact, Site
from chaosk.steps._phases import PhasedStep, Phases
from chaosk.steps._server import SOON, back, each
from chaosk.steps._service_steps import ServiceStep


class PauseServer(PhasedStep, ServiceStep):
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

    def phases(self, site: Site) -> Phases:
        """Send SIGSTOP to each process; the undo sends SIGCONT, and starts the servers that have died meanwhile."""
        every = self.servers(site)
        return Phases(
            before=[*(server.awake() for server in every), *self.suits(site)],
            inject=each(every, lambda process: service.signal(process, "STOP")),
            verify=[server.frozen(SOON) for server in every],
            undo=[*each(every, service.resume), *each(every, service.start)],
            healed=back(every),
        )

    def watch(self, site: Site) -> Iterator[Fact]:
        """Check that the process stays frozen, and that the cluster does not list the server.

        The second is not verified again right before the undo: it takes a whole time-out of an answer, which would
        delay the undo.
        """
        yield from super().watch(site)
        for server in self.servers(site):
            yield from server.away()
