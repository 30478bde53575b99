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

    The directory is bind-mounted onto itself, in the broker's mount namespace. The broker goes on writing to open
    files, but cannot create or rename one. So at its next checkpoint or segment (within seconds) it takes the directory
    offline, and ends if it has no other. It takes once the directory cannot be written. The undo removes this mount, no
    other, and starts the brokers that do not run. A broker with several directories is restarted, because it uses an
    offline directory again only after a start. Refused if other file systems are mounted below the directory, if data
    of another server or the host's leases lie in it, if a link leads to it, and for a broker in a container: root
    enters only mount namespaces of the host's own root.
    """

    example: ClassVar[str] = """\
at: 10s
remount_read_only: {target: "leader(orders, 0)"}
for: 30s
"""

    def places(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Yield each broker with its directory; raises StepError if another server's data lie in it."""
        return self.places_apart(site)

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the directory can be made read-only, and writable again."""
        yield from super().suits(site)
        for server, folder in self.places(site):
            query = readonly.fits(server.process, folder, site.mark(folder))
            yield Fact(says=f"{folder} of {server.name} can be made read-only", query=query)

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the broker runs, and that its directory can be made read-only."""
        for server in self.servers(site):
            yield server.awake()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Bind-mount the directory onto itself, read-only."""
        for server, folder in self.places(site):
            yield Run(command=readonly.put(server.process, folder, site.mark(folder)))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the directory is read-only, or that the broker and its mount namespace have ended."""
        for server, folder in self.places(site):
            query = readonly.stands(server.process, folder, site.mark(folder))
            yield Fact(says=f"{folder} of {server.name} is read-only", query=query)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Remove the mount, and start ended brokers."""
        for server, folder in self.places(site):
            yield Run(command=readonly.lift(server.process, folder, site.mark(folder)))
        yield from self.started(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the mount is gone, and that the broker serves."""
        for server, folder in self.places(site):
            query = readonly.is_gone(server.process, folder, site.mark(folder))
            yield Fact(says=f"no mount of chaosk's is on {folder} of {server.name}", query=query)
        yield from self.serving(site)
