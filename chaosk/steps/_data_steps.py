"""What steps on a broker's data directory have in common: which one it is, and that the broker may not survive it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from typing import ClassVar

from chaosk import service
from chaosk.errors import StepError
from chaosk.fields import Path
from chaosk.steps._contract import Deed, Fact, Run, Site, Step
from chaosk.steps._server import Server, servers


class DataStep(Step, ABC):
    """A step on one data directory of each of the brokers that a target names.

    A broker that loses its only directory ends itself: the undo starts what does not run. One that has others goes on
    without it, and takes it back only when it starts: the undo restarts it.
    """

    lasting: ClassVar[bool] = True

    target: str
    """Which brokers; a target that names several hits all of them."""
    directory: Path | None = None
    """Which of a broker's data directories, as in the inventory; without it the first."""

    def targets(self) -> tuple[str, ...]:
        """The one target."""
        return (self.target,)

    def servers(self, site: Site) -> tuple[Server, ...]:
        """The brokers."""
        return servers(site, "broker", self.target)

    def places(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Each broker with its directory; raises StepError where the inventory has no such one."""
        for server in self.servers(site):
            known = server.process.data
            if not known or self.directory not in {None, *known}:
                told = ", ".join(known) or "none: write `data` for it"
                wanted = f"{self.directory} is no data directory" if known else "no data directory"
                raise StepError(f"{site.entry}: {wanted} of {server.name} in the inventory, which has {told}")
            yield server, self.directory or known[0]

    def holds(self, site: Site) -> Iterator[str]:
        """The directory, and the process, which may end by it and is started by the undo."""
        for server, folder in self.places(site):
            yield f"the data directory {folder} of {server.name}"
            yield f"the process of {server.name}"

    def started(self, site: Site) -> Iterator[Deed]:
        """Start what does not run any more, and anew what may have given a directory up; the end of an undo.

        One after the other. A start under a lease waits for the end of what was stopped under it.
        """
        for server in self.servers(site):
            if len(server.process.data) > 1:
                yield Run(command=service.stop(server.process))
            yield Run(command=service.start(server.process))

    def serving(self, site: Site) -> Iterator[Fact]:
        """All of them run, and serve."""
        for server in self.servers(site):
            yield from server.back()
