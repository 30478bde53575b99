"""Make a broker's data directory read-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import readonly
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._data_steps import DataStep
from chaosk.steps._server import Server


class RemountReadOnly(DataStep):
    """Make a broker's data directory read-only, as a kernel does after an error of the file system.

    By a mount of the directory onto itself, where the broker lives: what it has open it goes on writing, but it can
    neither make nor rename a file there, so at its next checkpoint or segment (within seconds) it gives the directory
    up, and ends itself if it has no other. It takes once the directory cannot be written. The undo takes this mount
    away, no other, and starts what does not run; a broker with several directories is restarted, since it takes one
    that it gave up back only then. Refused where other file systems are mounted below the directory, where another
    server's data, or the host's leases, lie in it, where a link leads to it, and for a broker in a container: root goes
    into no mount namespace but those of the host's own root.
    """

    example: ClassVar[str] = """\
at: 10s
remount_read_only: {target: "leader(orders, 0)"}
for: 30s
"""

    def places(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Each broker with its directory; raises StepError where another server would lose its own with it."""
        return self.places_apart(site)

    def suits(self, site: Site) -> Iterator[Fact]:
        """The directory can be made read-only, and writable again."""
        yield from super().suits(site)
        for server, folder in self.places(site):
            query = readonly.fits(server.process, folder, _id(site, folder))
            yield Fact(says=f"{folder} of {server.name} can be made read-only", query=query)

    def before(self, site: Site) -> Iterator[Fact]:
        """The broker runs, and its directory can be made read-only."""
        for server in self.servers(site):
            yield server.awake()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Mount it onto itself."""
        for server, folder in self.places(site):
            yield Run(command=readonly.put(server.process, folder, _id(site, folder)))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Nobody can write there, unless the broker has ended and all that was its own with it."""
        for server, folder in self.places(site):
            query = readonly.stands(server.process, folder, _id(site, folder))
            yield Fact(says=f"{folder} of {server.name} is read-only", query=query)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Take the mount away, start what has ended."""
        for server, folder in self.places(site):
            yield Run(command=readonly.lift(server.process, folder, _id(site, folder)))
        yield from self.started(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """The mount is gone, the broker serves."""
        for server, folder in self.places(site):
            query = readonly.is_gone(server.process, folder, _id(site, folder))
            yield Fact(says=f"no mount of chaosk's is on {folder} of {server.name}", query=query)
        yield from self.serving(site)


def _id(site: Site, folder: str) -> str:
    return readonly.mount_id(site.run_id, site.entry, folder)
