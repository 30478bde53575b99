"""Make a broker's data directory read-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import reversible
from chaosk.spec.contracts.step import Site
from chaosk.steps._data_steps import DataStep
from chaosk.steps._reversible_steps import Change
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

    asked_early: ClassVar[bool] = True

    def places(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Yield each broker with its directory; raises StepError if another server's data lie in it."""
        return self.places_apart(site)

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the mount of each directory; it stands also if the broker and its mount namespace have ended."""
        for server, folder in self.places(site):
            yield Change(
                reversible.read_only(server.process, folder, site.mark(folder)),
                fits=f"{folder} of {server.name} can be made read-only",
                stands=f"{folder} of {server.name} is read-only",
                gone=f"no mount of chaosk's is on {folder} of {server.name}",
            )
