"""Start a broker with an empty data directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.core.units import Duration
from chaosk.hosts.commands import reversible, service
from chaosk.hosts.lease import lease_id
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.harm import Harm
from chaosk.steps._data_steps import DataStep
from chaosk.steps._reversible_steps import Change
from chaosk.steps._server import SHUTDOWN, SOON, Server, crash, each


class WipeDisk(DataStep):
    """Stop or kill a broker and start it with an empty data directory, as after a disk was replaced.

    The original directory is set aside by renaming it, and the broker is started at once. Only its `meta.properties` is
    kept, as operators do it. It takes once the broker serves without its former records. The undo does not put them
    back, because they are out of date from then on. It starts the broker if necessary, waits until the broker is in
    sync wherever it has a replica, and then deletes the original, or with `keep` leaves it as `DIRECTORY.kept-ID`. If
    the broker was never started without its records, the undo puts them back. Refused for a mount point, without room
    for a second copy, for a KRaft controller, which would forget its vote, and if records of topics of others would be
    lost.
    """

    example: ClassVar[str] = """\
at: 10s
wipe_disk: {target: "follower(orders, 0)"}
for: 10s
"""

    asked_early: ClassVar[bool] = True

    how: Literal["kill", "stop"] = "kill"
    """Whether the broker is killed or stopped cleanly."""
    within: Annotated[Duration, Field(ge=1.0, le=86_400.0)] = 300.0
    """Time-out after the undo until the broker has all records again."""
    keep: bool = False
    """Whether the original stays on the host at the end: the console prints its path. It has to be deleted by hand."""

    def places(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Yield each broker with its directory; raises StepError for controllers, and if other data lie in it."""
        for server, folder in self.places_apart(site):
            if "controller" in server.roles:
                raise StepError(
                    f"{site.entry}: {server.name} is a controller as well: one that forgets its vote and its log of "
                    "the metadata may bring the quorum to forget them too; aim at a broker that is none"
                )
            yield server, folder

    def harm(self, site: Site) -> Iterator[Harm]:
        """Yield the brokers as away until they have all records again, and their replicas as wiped."""
        nodes = tuple(server.node for server in self.servers(site))
        yield Harm(away=nodes, wiped=nodes)

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the exchange of each directory."""
        for server, folder in self.places(site):
            yield Change(
                reversible.wipe(server.process, folder, site.mark(folder)),
                fits=f"{folder} of {server.name} can be set aside",
                stands=f"{folder} of {server.name} was set aside",
                gone=f"{folder} of {server.name} is the final directory",
            )

    def inject(self, site: Site) -> Iterator[Deed]:
        """End the broker and prevent restarts; set its directory aside; start it."""
        every = self.servers(site)
        yield from crash(every, lease_id(site.run_id, site.entry)) if self.how == "kill" else each(every, service.stop)
        for server in every:
            yield server.gone(SHUTDOWN)
        yield from super().inject(site)
        yield from each(every, service.start)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the broker has another directory, and serves."""
        yield from super().verify(site)
        yield from self.serving(site)

    def started(self, site: Site) -> Iterator[Deed]:
        """Start the brokers that do not run."""
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that there is nothing to put back, and that the broker serves and is in sync."""
        for change in self.made(site):
            yield Fact(says=change.gone, query=change.commands.gone, within=SOON)
        yield from self.serving(site)
        for server in self.servers(site):
            says = f"{server.name} is in sync for all its replicas"
            yield Fact(says=says, query=f"replicas_in_sync({server.node.id})", within=self.within)

    def tidy(self, site: Site) -> Iterator[Deed]:
        """Delete the original, or keep it and print its path."""
        for server, folder in self.places(site):
            yield Run(command=reversible.discard(server.process, folder, site.mark(folder), keep=self.keep))
