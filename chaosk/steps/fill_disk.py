"""Fill up the file system of a broker's data directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Size
from chaosk.hosts.commands import reversible, service
from chaosk.spec.contracts.step import Deed, Fact, Site
from chaosk.spec.harm import Harm
from chaosk.steps._data_steps import DataStep
from chaosk.steps._reversible_steps import Change
from chaosk.steps._server import beside, each


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
        own = self.servers(site)
        yield Harm(away=tuple(server.node for server in (*own, *beside(site, own))))

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the directories, and the processes, any of which may end and is then started by the undo."""
        yield from super().holds(site)
        for server in beside(site, self.servers(site)):
            yield f"the process of {server.name}"

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the file of each directory; df confirms the free space."""
        for server, folder in self.places(site):
            yield Change(
                reversible.fill(server.process.host, folder, site.mark(), *self._much()),
                fits=f"there is room for the file in {folder} of {server.name}",
                stands=f"{folder} of {server.name} is filled",
                gone=f"no file of chaosk's is in {folder} of {server.name}",
                steady=self.size is not None,
            )

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that all servers of the host run, and that the file fits."""
        for server in beside(site, self.servers(site)):
            yield server.awake()
        yield from super().before(site)

    def started(self, site: Site) -> Iterator[Deed]:
        """Start all ended servers of the host."""
        yield from each(beside(site, self.servers(site)), service.start)
        yield from super().started(site)

    def serving(self, site: Site) -> Iterator[Fact]:
        """Verify that every server of the host serves."""
        for server in beside(site, self.servers(site)):
            yield from server.back()
        yield from super().serving(site)

    def _much(self) -> tuple[reversible.How, int]:
        return ("size", self.size) if self.size is not None else ("free", self.free or 0)
