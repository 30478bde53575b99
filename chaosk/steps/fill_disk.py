"""Fill up the file system of a broker's data directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Size
from chaosk.hosts.commands import disk, service
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.harm import Harm
from chaosk.steps._data_steps import DataStep
from chaosk.steps._server import Server, beside, each


class FillDisk(DataStep):
    """Fill the file system of a broker's data directory with one file, by an amount or up to an amount of free space.

    It takes once the file has all of its blocks and df confirms that. Existing files are not touched. A broker that
    cannot write takes the directory offline, and ends if it has no other. So do other servers with data on the same
    file system, such as a KRaft controller. Therefore all servers of the host count as away. The undo removes the file
    and starts the servers that do not run. A broker with several directories is restarted, because it uses an offline
    directory again only after a start. Refused if less than 16 MiB would stay free on the file system of the host's
    leases.
    """

    example: ClassVar[str] = """\
at: 10s
fill_disk: {target: "leader(orders, 0)", free: 20MiB}
for: 30s
"""

    size: Annotated[Size, Field(ge=1)] | None = None
    """The size of the file; this or ``free``."""
    free: Size | None = None
    """The free space that the file leaves; this or ``size``."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> FillDisk:
        if (self.size is None) == (self.free is None):
            msg = "write exactly one of size and free"
            raise ValueError(msg)
        return self

    def harm(self, site: Site) -> Iterator[Harm]:
        """Yield every server on the hosts: the inventory does not tell which of them share the file system."""
        yield Harm(away=tuple(server.node for server in self._every(site)))

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the directories, and the processes, any of which may end and is then started by the undo."""
        yield from super().holds(site)
        for server in beside(site, self.servers(site)):
            yield f"the process of {server.name}"

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that all servers of the host run, and that the file fits."""
        for server in beside(site, self.servers(site)):
            yield server.awake()
        for server, folder in self.places(site):
            yield server.awake()
            yield server.itself(folder)
            host, file = server.process.host, self._file(site, folder)
            says = f"there is room for the file in {folder} of {server.name}"
            yield Fact(says=says, query=disk.fits(host, file, *self._much()))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Create the file."""
        for server, folder in self.places(site):
            yield Run(command=disk.fill(server.process.host, self._file(site, folder), *self._much()))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the file is complete, and that df confirms the free space."""
        for server, folder in self.places(site):
            query = disk.is_filled(server.process.host, self._file(site, folder), *self._much())
            yield Fact(says=f"{folder} of {server.name} is filled", query=query, steady=self.size is not None)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Remove the file, and start ended servers."""
        for server, folder in self.places(site):
            yield Run(command=disk.empty(server.process.host, self._file(site, folder)))
        yield from each(beside(site, self.servers(site)), service.start)
        yield from self.started(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the file is gone, and that every server of the host serves."""
        for server, folder in self.places(site):
            query = disk.is_gone(server.process.host, self._file(site, folder))
            yield Fact(says=f"no file of chaosk's is in {folder} of {server.name}", query=query)
        for server in beside(site, self.servers(site)):
            yield from server.back()
        yield from self.serving(site)

    def _every(self, site: Site) -> tuple[Server, ...]:
        own = self.servers(site)
        return (*own, *beside(site, own))

    def _file(self, site: Site, folder: str) -> str:
        return disk.file_name(folder, site.mark())

    def _much(self) -> tuple[disk.How, int]:
        return ("size", self.size) if self.size is not None else ("free", self.free or 0)
