"""Change the owner of a broker's data directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import reversible
from chaosk.spec.contracts.step import Site
from chaosk.steps._data_steps import DataStep
from chaosk.steps._reversible_steps import Change


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

    owner: reversible.Owner = "nobody"
    """The new owner."""

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the change of each directory's owner."""
        for server, folder in self.places(site):
            yield Change(
                reversible.owned_by(server.process.host, folder, site.mark(folder), self.owner),
                fits=f"the owner of {folder} of {server.name} can be changed",
                stands=f"{folder} of {server.name} belongs to {self.owner}",
                gone=f"{folder} of {server.name} belongs to whom it belonged",
                steady=False,
            )
