"""Make the disk of a broker's data directory slow."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Duration
from chaosk.hosts.commands.mapper import Ill
from chaosk.steps._mapper_steps import MapperStep

Delay = Annotated[Duration, Field(ge=0.0, le=60.0)]


class SlowDisk(MapperStep):
    """Make each read from the disk under a broker's data directory, each write to it, or both take longer.

    By device-mapper's `delay`: the disk goes on doing what it is asked, so the broker waits wherever it waits for its
    disk (an fsync, a read of what is in no cache). It takes once the device has that table and a read took as long, but
    for a tick of its kernel's clock (up to 10 ms).

    Only where the file system lies on a device with a table of `linear` lines, as LVM makes them, that nothing else
    uses: not the root file system, no other mount, no other process's files, not the host's leases. The kernel has to
    be the host's own (`power` or `own_kernel` in the inventory). Anything else is refused before the run, with the
    reason.
    """

    what: ClassVar[str] = "slow"
    example: ClassVar[str] = """\
at: 10s
slow_disk: {target: "leader(orders, 0)", write: 200ms}
for: 30s
"""

    read: Delay = 0.0
    """How much longer each read takes."""
    write: Delay = 0.0
    """How much longer each write takes."""

    @model_validator(mode="after")
    def _at_least_one(self) -> SlowDisk:
        if not (self.read or self.write):
            msg = "write read, write or both"
            raise ValueError(msg)
        return self

    def ill(self) -> Ill:
        """Whole milliseconds."""
        return ("slow", str(round(self.read * 1000)), str(round(self.write * 1000)))
