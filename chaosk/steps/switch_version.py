"""Move brokers or controllers to another version of Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.hosts.commands import service, versions
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.fields import Version
from chaosk.spec.inventory import KafkaProcess
from chaosk.steps._phases import Phases
from chaosk.steps._server import SOON, Server
from chaosk.steps._version_steps import VersionStep


class SwitchVersion(VersionStep):
    """Stop a server cleanly and start it from another installation of Kafka on its host.

    The inventory has the installations, and the symbolic link to the one in use (``installation``). The link is pointed
    at the other one while the server is down. It takes once the process has the jars of that version open, and serves.
    Several servers are switched one after the other. The undo stops the server, restores the link and starts it. Other
    servers that are started through the same link meanwhile also get the other version.

    Refused if the version is not installed or in use already, if the link is no symbolic link, and, unless
    ``across_releases`` is true, if the first two numbers of the versions differ: the older version may not be able to
    read the data of the newer one, and no undo can heal that.

    While it is in place each of its servers counts as away: if chaosk dies, the hosts undo it independently, and
    restart them all at about the same time. ``restore_version`` ends it at a chosen time.
    """

    lasting: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
switch_version: {target: broker 1, version: 3.9.1}
for: 60s
"""

    version: Version
    """The version to switch to, one of ``installation.versions`` in the inventory."""
    across_releases: bool = False
    """Whether it may be another release: for versions that are known to read each other's data."""

    def places(self, site: Site) -> Iterator[tuple[Server, KafkaProcess]]:
        """Yield each server; raises StepError also for one whose host does not have the version."""
        for server, process in super().places(site):
            known = process.installation.versions if process.installation is not None else {}
            if self.version not in known:
                raise StepError(
                    f"{site.entry}: Kafka {self.version} is not among the installations of {server.name} in the "
                    f"inventory, which has {', '.join(known)}; in a lab: chaosk lab up --also {self.version}"
                )
            yield server, process

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the server can be switched, and switched back."""
        span: versions.Span = "any" if self.across_releases else "release"
        for server, process in self.places(site):
            query = versions.fits(process, self.version, span)
            yield Fact(says=f"{server.name} can be switched to Kafka {self.version}", query=query)

    def phases(self, site: Site) -> Phases:
        """Restart each server from the other installation; the undo restarts those that run from there."""
        return Phases(
            before=[*(server.awake() for server, _ in self.places(site)), *self.suits(site)],
            inject=self.rolling(site, lambda process: versions.point(process, self.version)),
            verify=self._switched(site),
            undo=self._restored(site),
            healed=[fact for server, former in self.former(site) for fact in (former, *server.back())],
        )

    def _switched(self, site: Site) -> Iterator[Fact]:
        for server, process in self.places(site):
            query = versions.is_switched(process, self.version)
            yield Fact(says=f"{server.name} runs Kafka {self.version}", query=query, within=SOON, steady=False)
            yield from server.serving()

    def _restored(self, site: Site) -> Iterator[Deed]:
        for _, process in self.places(site):
            yield Run(command=versions.leave(process, self.version))
            yield Run(command=versions.back(process))
            yield Run(command=service.start(process))
