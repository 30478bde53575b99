"""Shared base of steps on the disk under a broker's data directory: they replace its device-mapper table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import mapper, service
from chaosk.hosts.commands.mapper import Ill, MappedDisk
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import Inventory
from chaosk.steps._data_steps import DataStep
from chaosk.steps._own_kernel import shared
from chaosk.steps._server import Server, each


class MapperStep(DataStep, ABC):
    """A step on the disks under data directories, on hosts with their own kernels."""

    what: ClassVar[str]
    """The state of the disk, for messages."""

    @abstractmethod
    def ill(self) -> Ill:
        """Return the fault of the disk in the syntax of the script."""

    def refused(self, inventory: Inventory, host: str) -> str | None:
        """Refuse hosts with a shared kernel: its devices belong to the whole machine."""
        return shared(inventory, host)

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the disk's table can be replaced and restored."""
        yield from super().suits(site)
        for server, folder, disk in self.disks(site):
            says = f"the disk of {folder} of {server.name} can be {self.what}"
            yield Fact(says=says, query=mapper.fits(disk, self.ill()))

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the broker runs, and that its disk is suitable."""
        for server in self.servers(site):
            yield server.awake()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Replace the table."""
        for _, _, disk in self.disks(site):
            yield Run(command=mapper.put(disk, self.ill()))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify the table, and its effect on a read from the disk."""
        for server, folder, disk in self.disks(site):
            query = mapper.stands(disk, self.ill())
            yield Fact(says=f"the disk of {folder} of {server.name} is {self.what}", query=query, steady=False)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Restore the original table, and start ended brokers."""
        for _, _, disk in self.disks(site):
            yield Run(command=mapper.lift(disk, self.ill()))
        yield from self.started(site)

    def started(self, site: Site) -> Iterator[Deed]:
        """Start the brokers that do not run: a slow disk ends no broker, and with a failed one they were killed."""
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the disk has its original table, and that the broker serves."""
        for server, folder, disk in self.disks(site):
            query = mapper.is_gone(disk, self.ill())
            yield Fact(says=f"the disk of {folder} of {server.name} has its own table", query=query)
        yield from self.serving(site)

    def disks(self, site: Site) -> Iterator[tuple[Server, str, MappedDisk]]:
        """Yield each broker with its directory and the disk under it."""
        for server, folder in self.places(site):
            yield server, folder, MappedDisk(server.process, folder, site.boot_id, site.mark(folder))
