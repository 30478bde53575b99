"""Change the owner of a broker's data directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import ownership
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._data_steps import DataStep


class ChangeOwner(DataStep):
    """Give a broker's data directory and all files in it to another account, as a restore by the wrong account does.

    It takes once no file there belongs to its original owner. The broker goes on writing to open files. When it has to
    create one, it takes the directory offline, and ends if it has no other. The undo restores the owner and starts the
    brokers that do not run. A broker with several directories is restarted, because it uses an offline directory again
    only after a start. Refused if the new owner has files there already, or if a group may write there.
    """

    example: ClassVar[str] = """\
at: 10s
change_owner: {target: "leader(orders, 0)"}
for: 30s
"""

    owner: ownership.Owner = "nobody"
    """The new owner."""

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the broker runs, and that the owner can be changed."""
        for server, folder in self.places(site):
            yield server.awake()
            yield server.itself(folder)
            query = ownership.fits(server.process.host, folder, site.mark(folder), self.owner)
            yield Fact(says=f"the owner of {folder} of {server.name} can be changed", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Change the owner."""
        for server, folder in self.places(site):
            yield Run(command=ownership.change(server.process.host, folder, site.mark(folder), self.owner))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that no file belongs to its original owner."""
        for server, folder in self.places(site):
            query = ownership.is_changed(server.process.host, folder, site.mark(folder), self.owner)
            yield Fact(says=f"{folder} of {server.name} belongs to {self.owner}", query=query, steady=False)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Restore the owner, and start ended brokers."""
        for server, folder in self.places(site):
            yield Run(command=ownership.restore(server.process.host, folder, site.mark(folder)))
        yield from self.started(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the owner is restored, and that the broker serves."""
        for server, folder in self.places(site):
            query = ownership.is_restored(server.process.host, folder, site.mark(folder))
            yield Fact(says=f"{folder} of {server.name} belongs to whom it belonged", query=query)
        yield from self.serving(site)
