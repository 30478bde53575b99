"""What steps on a broker's data directory have in common: which one it is, and that the broker may not survive it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Deed, Fact, Run, Site, Step
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.fields import Path
from chaosk.steps._server import Server, beside, servers


class DataStep(Step, ABC):
    """A step on one data directory of each of the brokers that a target names.

    A broker that loses its only directory ends itself: the undo starts what does not run. One that has others goes on
    without it, and takes it back only when it starts: the undo restarts it.
    """

    lasting: ClassVar[bool] = True

    target: str
    """Which brokers; a target that names several hits all of them."""
    directory: Path | Annotated[int, Field(ge=1)] | None = None
    """Which of a broker's data directories, by path or by place in the inventory (from 1); default: the first."""

    def takes(self) -> frozenset[NodeKind]:
        """Brokers."""
        return frozenset({"broker"})

    def targets(self) -> tuple[str, ...]:
        """The one target."""
        return (self.target,)

    def servers(self, site: Site) -> tuple[Server, ...]:
        """The brokers."""
        return servers(site, "broker", self.target)

    def places(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Each broker with its directory; raises StepError where the inventory has no such one."""
        for server in self.servers(site):
            known = dict(enumerate(server.process.data, 1))
            folder = self.directory if isinstance(self.directory, str) else known.get(self.directory or 1)
            if folder is None or folder not in known.values():
                told = ", ".join(known.values()) or "none: write `data` for it"
                wanted = f"{self.directory} is no data directory" if known else "no data directory"
                raise StepError(f"{site.entry}: {wanted} of {server.name} in the inventory, which has {told}")
            yield server, folder

    def places_apart(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Each broker with its directory; raises StepError where another server would lose its own with it."""
        for server, folder in DataStep.places(self, site):
            for other in (server, *beside(site, (server,))):
                theirs = (one for one in other.process.data if one != folder or other is not server)
                if shared := [one for one in theirs if PurePosixPath(one).is_relative_to(folder)]:
                    raise StepError(
                        f"{site.entry}: {folder} of {server.name} has {shared[0]} of {other.name} in it, which would "
                        "be hit as well; name another directory, or aim at another broker"
                    )
            yield server, folder

    def suits(self, site: Site) -> Iterator[Fact]:
        """Each broker is the one that is meant, and the directory is its own: it has the lock of it."""
        for server, folder in self.places(site):
            yield server.itself(folder)

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
