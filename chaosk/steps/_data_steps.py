"""Shared base of steps on a broker's data directory, which the broker may not survive."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.fields import Path
from chaosk.steps._reversible_steps import ReversibleStep
from chaosk.steps._server import Server, beside, servers


class DataStep(ReversibleStep, ABC):
    """A step that changes one data directory of each targeted broker.

    A broker that loses its only directory ends, and the undo starts it. A broker with several directories goes on
    without the lost one and uses it again only after a start, so the undo restarts it.
    """

    asked_early: ClassVar[bool] = False
    """Whether hosts are asked before the run, too, whether they can take the change."""

    target: str
    """The brokers; a target that names several hits all of them."""
    directory: Path | Annotated[int, Field(ge=1)] | None = None
    """The data directory, by path or by its position in the inventory (from 1); default: the first."""

    def takes(self) -> frozenset[NodeKind]:
        """Accept brokers."""
        return frozenset({"broker"})

    def servers(self, site: Site) -> tuple[Server, ...]:
        """Return the targeted brokers."""
        return servers(site, "broker", self.target)

    def places(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Yield each broker with its directory; raises StepError if the inventory does not have the directory."""
        for server in self.servers(site):
            known = dict(enumerate(server.process.data, 1))
            folder = self.directory if isinstance(self.directory, str) else known.get(self.directory or 1)
            if folder is None or folder not in known.values():
                told = ", ".join(known.values()) or "none: write `data` for it"
                wanted = f"{self.directory} is no data directory" if known else "no data directory"
                raise StepError(f"{site.entry}: {wanted} of {server.name} in the inventory, which has {told}")
            yield server, folder

    def places_apart(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Yield each broker with its directory; raises StepError if another server's data lie in it."""
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
        """Require that each process is the broker of the inventory, and holds the lock of the directory."""
        yield from self._themselves(site)
        if self.asked_early:
            yield from super().before(site)

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the brokers run, that they are those of the inventory, and that the change is possible."""
        for server in self.servers(site):
            yield server.awake()
        yield from self._themselves(site)
        yield from super().before(site)

    def _themselves(self, site: Site) -> Iterator[Fact]:
        for server, folder in self.places(site):
            yield server.itself(folder)

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the directory, and the process, which may end and is then started by the undo."""
        for server, folder in self.places(site):
            yield f"the data directory {folder} of {server.name}"
            yield f"the process of {server.name}"

    def undo(self, site: Site) -> Iterator[Deed]:
        """Undo the change, and start ended brokers."""
        yield from super().undo(site)
        yield from self.started(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the change is undone, and that the brokers serve."""
        yield from super().healed(site)
        yield from self.serving(site)

    def started(self, site: Site) -> Iterator[Deed]:
        """Start the brokers that do not run, and restart those with several directories; the last part of an undo.

        One after the other. A start under a lease waits for the end of a process that was stopped under it.
        """
        for server in self.servers(site):
            if len(server.process.data) > 1:
                yield Run(command=service.stop(server.process))
            yield Run(command=service.start(server.process))

    def serving(self, site: Site) -> Iterator[Fact]:
        """Verify that all brokers run and serve."""
        for server in self.servers(site):
            yield from server.back()
