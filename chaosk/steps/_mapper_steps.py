"""Shared base of steps on the disk under a broker's data directory: they replace its device-mapper table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import reversible, service
from chaosk.spec.contracts.step import Deed, Site
from chaosk.spec.inventory import Inventory
from chaosk.steps._data_steps import DataStep
from chaosk.steps._own_kernel import shared
from chaosk.steps._reversible_steps import Change
from chaosk.steps._server import each


class MapperStep(DataStep, ABC):
    """A step on the disks under data directories, on hosts with their own kernels."""

    asked_early: ClassVar[bool] = True
    what: ClassVar[str]
    """The state of the disk, for messages."""

    @abstractmethod
    def ill(self) -> reversible.Ill:
        """Return the fault of the disk in the syntax of the script."""

    def refused(self, inventory: Inventory, host: str) -> str | None:
        """Refuse hosts with a shared kernel: its devices belong to the whole machine."""
        return shared(inventory, host)

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the other table of each disk; its effect is verified by a read from the disk."""
        for server, folder in self.places(site):
            disk = f"the disk of {folder} of {server.name}"
            yield Change(
                reversible.mapped(server.process, folder, site.boot_id, site.mark(folder), self.ill()),
                fits=f"{disk} can be {self.what}",
                stands=f"{disk} is {self.what}",
                gone=f"{disk} has its own table",
                steady=False,
            )

    def started(self, site: Site) -> Iterator[Deed]:
        """Start the brokers that do not run: a slow disk ends no broker, and with a failed one they were killed."""
        yield from each(self.servers(site), service.start)
