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
    """Fill the file system of a broker's data directory with one file, by so much or until so much is free.

    It takes once the file has all of its blocks there and df says so. What is already there is not touched. A broker
    that cannot write gives the directory up, and ends itself if it has no other; so does what else keeps its data on
    the same file system: a KRaft controller ends, so all servers of the host count as taken away. The undo removes the
    file and starts those that do not run; a broker with several directories is restarted, since it takes one that it
    gave up back only then. Refused where it would leave less than 16 MiB free on the file system on which the host
    keeps its leases.
    """

    example: ClassVar[str] = """\
at: 10s
fill_disk: {target: "leader(orders, 0)", free: 20MiB}
for: 30s
"""

    size: Annotated[Size, Field(ge=1)] | None = None
    """The size of the file; this or ``free``."""
    free: Size | None = None
    """How much the file leaves free; this or ``size``."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> FillDisk:
        if (self.size is None) == (self.free is None):
            msg = "write exactly one of size and free"
            raise ValueError(msg)
        return self

    def harm(self, site: Site) -> Iterator[Harm]:
        """Every server on those hosts: who shares the file system is for the hosts to know."""
        yield Harm(away=tuple(server.node for server in self._every(site)))

    def holds(self, site: Site) -> Iterator[str]:
        """The directories, and the processes, any of which may end and is started by the undo."""
        yield from super().holds(site)
        for server in beside(site, self.servers(site)):
            yield f"the process of {server.name}"

    def before(self, site: Site) -> Iterator[Fact]:
        """All servers of the host run, and the file fits."""
        for server in beside(site, self.servers(site)):
            yield server.awake()
        for server, folder in self.places(site):
            yield server.awake()
            yield server.itself(folder)
            host, file = server.process.host, self._file(site, folder)
            says = f"there is room for the file in {folder} of {server.name}"
            yield Fact(says=says, query=disk.fits(host, file, *self._much()))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Place the file."""
        for server, folder in self.places(site):
            yield Run(command=disk.fill(server.process.host, self._file(site, folder), *self._much()))

    def verify(self, site: Site) -> Iterator[Fact]:
        """It is there, and df agrees."""
        for server, folder in self.places(site):
            query = disk.is_filled(server.process.host, self._file(site, folder), *self._much())
            yield Fact(says=f"{folder} of {server.name} is filled", query=query, steady=self.size is not None)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Remove the file, start what has ended."""
        for server, folder in self.places(site):
            yield Run(command=disk.empty(server.process.host, self._file(site, folder)))
        yield from each(beside(site, self.servers(site)), service.start)
        yield from self.started(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """The file is gone, and every server of the host serves."""
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
        return disk.file_name(folder, site.run_id, site.entry)

    def _much(self) -> tuple[disk.How, int]:
        return ("size", self.size) if self.size is not None else ("free", self.free or 0)
