"""Give a broker's data directory to another account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import ownership
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._data_steps import DataStep


class ChangeOwner(DataStep):
    """Give a broker's data directory and all files in it to another account, as a restore run by the wrong one does.

    It takes once nothing there belongs to its former owner. What the broker has open it goes on writing, until it has
    to make a file: then it gives the directory up, and ends itself if it has no other. The undo gives everything back
    and starts what does not run; a broker with several directories is restarted, since it takes one that it gave up
    back only then. Refused where the new owner has files there already, or where a group may write.
    """

    example: ClassVar[str] = """\
at: 10s
change_owner: {target: "leader(orders, 0)"}
for: 30s
"""

    owner: ownership.Owner = "nobody"
    """The account that gets it."""

    def before(self, site: Site) -> Iterator[Fact]:
        """The broker runs, and the owner can be changed."""
        for server, folder in self.places(site):
            yield server.awake()
            yield server.itself(folder)
            query = ownership.fits(server.process.host, folder, _id(site, folder), self.owner)
            yield Fact(says=f"the owner of {folder} of {server.name} can be changed", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Change it."""
        for server, folder in self.places(site):
            yield Run(command=ownership.change(server.process.host, folder, _id(site, folder), self.owner))

    def verify(self, site: Site) -> Iterator[Fact]:
        """All of it is changed."""
        for server, folder in self.places(site):
            query = ownership.is_changed(server.process.host, folder, _id(site, folder), self.owner)
            yield Fact(says=f"{folder} of {server.name} belongs to {self.owner}", query=query, steady=False)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Give it back, start what has ended."""
        for server, folder in self.places(site):
            yield Run(command=ownership.restore(server.process.host, folder, _id(site, folder)))
        yield from self.started(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """It is given back, the broker serves."""
        for server, folder in self.places(site):
            query = ownership.is_restored(server.process.host, folder, _id(site, folder))
            yield Fact(says=f"{folder} of {server.name} belongs to whom it belonged", query=query)
        yield from self.serving(site)


def _id(site: Site, folder: str) -> str:
    return ownership.owner_id(site.run_id, site.entry, folder)
