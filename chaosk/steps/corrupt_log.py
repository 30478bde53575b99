"""Overwrite bytes of a partition's log on a killed broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.hosts.commands import reversible, service
from chaosk.hosts.lease import lease_id
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._data_steps import DataStep
from chaosk.steps._partitions import owned
from chaosk.steps._reversible_steps import Change
from chaosk.steps._server import SHUTDOWN, STARTUP, crash, each


class CorruptLog(DataStep):
    """Kill a broker, overwrite 512 bytes in the middle of a partition's newest segment, and start the broker again.

    After a kill a broker reads its newest segments, truncates each at the first batch with a wrong checksum, and
    fetches the rest from the leader. The step takes once the broker serves and the corrupt bytes are gone. The
    truncated records were acknowledged; they are lost if no other replica in sync had them. The bytes are restored,
    while the broker is stopped, only if the step fails before that. Refused for a segment of less than 8 KiB, and for
    topics that chaosk did not create.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 30s
corrupt_log: {target: "follower(orders, 0)", topic: orders}
"""

    topic: str
    """The topic."""
    partition: Annotated[int, Field(ge=0)] = 0
    """The partition; the brokers must have replicas of it."""

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the change of each broker's log; a recovered log has nothing of it any more."""
        for server, folder in self.places(site):
            log = f"{self.topic}-{self.partition}"
            yield Change(
                reversible.corrupt(server.process, folder, site.mark(folder, log), log),
                fits=f"{log} of {server.name} can be corrupted",
                stands=f"{server.name} has recovered {log}",
                gone=f"{log} of {server.name} is not corrupted",
                within=STARTUP,
            )

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the topic is the scenario's, that the broker runs, and that there is a segment to corrupt."""
        yield owned(self.topic)
        yield from super().before(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Kill and hold the broker, corrupt the log, start the broker, wait for recovery, delete the saved bytes."""
        every = self.servers(site)
        yield from crash(every, lease_id(site.run_id, site.entry))
        for server in every:
            yield server.gone(SHUTDOWN)
        yield from super().inject(site)
        yield from each(every, service.start)
        yield from super().verify(site)
        for change in self.made(site):
            yield Run(command=change.commands.lift)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that no corrupt bytes are left, and that the broker serves."""
        return self.healed(site)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Stop the broker, which may have the log open, restore the bytes, start it; needed after an interruption."""
        yield from each(self.servers(site), service.stop)
        for server in self.servers(site):
            yield server.gone(SHUTDOWN)
        yield from super().undo(site)

    def started(self, site: Site) -> Iterator[Deed]:
        """Start the brokers, which were stopped."""
        yield from each(self.servers(site), service.start)
