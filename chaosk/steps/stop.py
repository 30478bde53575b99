"""Stop servers cleanly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Deed, Site
from chaosk.steps._server import SHUTDOWN, each
from chaosk.steps._service_steps import TakeDown


class StopServer(TakeDown):
    """Stop a broker, a controller or a ZooKeeper node cleanly.

    As a broker it moves its leaderships away first. It takes once the process is gone and no other process listens in
    its place; a restart by a supervisor is noticed. The undo starts it and waits until it serves.
    """

    example: ClassVar[str] = """\
at: 10s
stop: {target: "leader(orders, 0)"}
for: 30s
"""
    patience: ClassVar[float] = SHUTDOWN

    def inject(self, site: Site) -> Iterator[Deed]:
        """Stop each server by its service."""
        yield from each(self.servers(site), service.stop)
