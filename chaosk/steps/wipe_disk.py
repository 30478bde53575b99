"""Have a broker come back with an empty data directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.core.units import Duration
from chaosk.hosts.commands import service, wiping
from chaosk.hosts.lease import lease_id
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.harm import Harm
from chaosk.steps._data_steps import DataStep
from chaosk.steps._server import SHUTDOWN, SOON, Server, crash, each


class WipeDisk(DataStep):
    """End a broker and start it with an empty data directory, as after a disk was replaced.

    What was there is set aside by renaming it, and the broker is started at once; only its `meta.properties` stays,
    as operators do it. It takes once the broker serves without its former records. The undo does not put them back,
    for they are out of date from then on: it starts what does not run, waits until the broker is in sync wherever it
    has a replica, and then deletes what was set aside, or with `keep` leaves it as `DIRECTORY.kept-ID`. Where the
    broker was never started without them it puts them back. Refused for a mount point, where there is no room for a
    second copy, for a KRaft controller, whose vote would be forgotten, and where records of somebody else's topics
    would be gone for good.
    """

    example: ClassVar[str] = """\
at: 10s
wipe_disk: {target: "follower(orders, 0)"}
for: 10s
"""

    how: Literal["kill", "stop"] = "kill"
    """Whether the broker is killed, or stopped the clean way."""
    within: Annotated[Duration, Field(ge=1.0, le=86_400.0)] = 300.0
    """How long it may take, once it is undone, until the broker has everything again."""
    keep: bool = False
    """Whether what was set aside stays on the host at the end: the console says where. Somebody has to delete it."""

    def places(self, site: Site) -> Iterator[tuple[Server, str]]:
        """Each broker with its directory, which is nobody else's; raises StepError for a controller's."""
        for server, folder in self.places_apart(site):
            if "controller" in server.roles:
                raise StepError(
                    f"{site.entry}: {server.name} is a controller as well: one that forgets its vote and its log of "
                    "the metadata may bring the quorum to forget them too; aim at a broker that is none"
                )
            yield server, folder

    def harm(self, site: Site) -> Iterator[Harm]:
        """They are away until they have everything again, and what only they have is gone."""
        nodes = tuple(server.node for server in self.servers(site))
        yield Harm(away=nodes, wiped=nodes)

    def suits(self, site: Site) -> Iterator[Fact]:
        """The directory can be set aside."""
        yield from super().suits(site)
        for server, folder in self.places(site):
            query = wiping.fits(server.process, folder, _id(site, folder))
            yield Fact(says=f"{folder} of {server.name} can be set aside", query=query)

    def before(self, site: Site) -> Iterator[Fact]:
        """The broker runs, and its directory can be set aside."""
        for server in self.servers(site):
            yield server.awake()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """End it, also where a supervisor would start it again; set its directory aside; start it."""
        every = self.servers(site)
        yield from crash(every, lease_id(site.run_id, site.entry)) if self.how == "kill" else each(every, service.stop)
        for server in every:
            yield server.gone(SHUTDOWN)
        for server, folder in self.places(site):
            yield Run(command=wiping.wipe(server.process, folder, _id(site, folder)))
        yield from each(every, service.start)

    def verify(self, site: Site) -> Iterator[Fact]:
        """It has another directory, and serves."""
        for server, folder in self.places(site):
            query = wiping.stands(server.process, folder, _id(site, folder))
            yield Fact(says=f"{folder} of {server.name} was set aside", query=query)
        yield from self.serving(site)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Put back what it was never started without, start what does not run."""
        for server, folder in self.places(site):
            yield Run(command=wiping.settle(server.process, folder, _id(site, folder)))
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Nothing has to be put back; the broker serves, and has everything."""
        for server, folder in self.places(site):
            query = wiping.is_settled(server.process, folder, _id(site, folder))
            yield Fact(says=f"{folder} of {server.name} is what counts", query=query, within=SOON)
        yield from self.serving(site)
        for server in self.servers(site):
            says = f"{server.name} is in sync wherever it has a replica"
            yield Fact(says=says, query=f"replicas_in_sync({server.node.id})", within=self.within)

    def tidy(self, site: Site) -> Iterator[Deed]:
        """Delete what was set aside, or leave it and say where."""
        end = wiping.keep if self.keep else wiping.discard
        for server, folder in self.places(site):
            yield Run(command=end(server.process, folder, _id(site, folder)))


def _id(site: Site, folder: str) -> str:
    return wiping.wipe_id(site.run_id, site.entry, folder)
