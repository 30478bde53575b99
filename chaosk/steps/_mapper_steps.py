"""What steps on the disk under a broker's data directory have in common: another table of device-mapper for a while."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import mapper, service
from chaosk.hosts.commands.mapper import Disk, Ill
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import Inventory
from chaosk.steps._data_steps import DataStep
from chaosk.steps._own_kernel import shared
from chaosk.steps._server import Server, each


class MapperStep(DataStep, ABC):
    """A step on the disks under data directories, on hosts that have kernels of their own."""

    what: ClassVar[str]
    """What the disk is, in words."""

    @abstractmethod
    def ill(self) -> Ill:
        """What is done to the disk, in the script's words."""

    def refused(self, inventory: Inventory, host: str) -> str | None:
        """A device of a shared kernel is the whole machine's."""
        return shared(inventory, host)

    def suits(self, site: Site) -> Iterator[Fact]:
        """The disk can be given another table, and its own again."""
        yield from super().suits(site)
        for server, folder, disk in self.disks(site):
            says = f"the disk of {folder} of {server.name} can be {self.what}"
            yield Fact(says=says, query=mapper.fits(disk, self.ill()))

    def before(self, site: Site) -> Iterator[Fact]:
        """The broker runs, and its disk can be had."""
        for server in self.servers(site):
            yield server.awake()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Another table."""
        for _, _, disk in self.disks(site):
            yield Run(command=mapper.put(disk, self.ill()))

    def verify(self, site: Site) -> Iterator[Fact]:
        """The table is there, and a read from the disk feels it."""
        for server, folder, disk in self.disks(site):
            query = mapper.stands(disk, self.ill())
            yield Fact(says=f"the disk of {folder} of {server.name} is {self.what}", query=query, steady=False)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Its own table, and start what has ended."""
        for _, _, disk in self.disks(site):
            yield Run(command=mapper.lift(disk, self.ill()))
        yield from self.started(site)

    def started(self, site: Site) -> Iterator[Deed]:
        """Start what does not run: no slow disk is given up, and who had a failed one was killed."""
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """It has its own table, the broker serves."""
        for server, folder, disk in self.disks(site):
            query = mapper.is_gone(disk, self.ill())
            yield Fact(says=f"the disk of {folder} of {server.name} has its own table", query=query)
        yield from self.serving(site)

    def disks(self, site: Site) -> Iterator[tuple[Server, str, Disk]]:
        """Each broker with its directory and the disk under that."""
        for server, folder in self.places(site):
            which = mapper.disk_id(site.run_id, site.entry, folder)
            yield server, folder, Disk(server.process, folder, site.boot_id, which)
