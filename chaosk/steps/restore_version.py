"""Move brokers or controllers back to their former version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import service, versions
from chaosk.spec.contracts.step import Fact, Site
from chaosk.spec.harm import Harm
from chaosk.steps._phases import Phases
from chaosk.steps._server import back, each
from chaosk.steps._version_steps import VersionStep


class RestoreVersion(VersionStep):
    """Stop a server that ``switch_version`` has moved, and start it from its former installation.

    That fault is then over. It does the same as the undo, but at a chosen time, for example once all replicas are in
    sync. Several servers are moved one after the other.
    """

    lasting: ClassVar[bool] = False
    ends: ClassVar[tuple[str, ...]] = ("switch_version",)
    example: ClassVar[str] = """\
when: isr_full(orders)
restore_version: {target: broker 1}
"""

    def harm(self, site: Site) -> Iterator[Harm]:
        """Yield one server at a time."""
        for server, _ in self.places(site):
            yield Harm(away=(server.node,))

    def phases(self, site: Site) -> Phases:
        """Restart each server from its link's original target.

        The undo is needed only after an interruption, and starts what does not run. The links are left to the fault.
        """
        every = [server for server, _ in self.places(site)]
        return Phases(
            before=self._switched(site),
            inject=self.rolling(site, versions.back),
            verify=[fact for server, former in self.former(site) for fact in (former, *server.serving())],
            undo=each(every, service.start),
            healed=back(every),
        )

    def _switched(self, site: Site) -> Iterator[Fact]:
        for server, process in self.places(site):
            yield server.awake()
            yield Fact(says=f"{server.name} was switched to another version", query=versions.is_away(process))
