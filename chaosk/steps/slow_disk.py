"""Make the disk of a broker's data directory slow."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Duration
from chaosk.hosts.commands.reversible import Ill
from chaosk.steps._mapper_steps import MapperStep

Delay = Annotated[Duration, Field(ge=0.0, le=60.0)]


class SlowDisk(MapperStep):
    """Make reads from the disk under a broker's data directory, writes to it, or both take longer.

    It uses device-mapper's `delay`: the disk still works, so the broker waits wherever it waits for its disk (an fsync,
    an uncached read). It takes once the device has that table and a read took that long, minus a tick of its kernel's
    clock (up to 10 ms).

    The file system has to be on a device with a table of `linear` lines, as LVM makes them, and the device must have no
    other use: no root file system, no other mount, no open files of other processes, no leases of the host. The kernel
    has to be the host's own (`power` or `own_kernel` in the inventory). Everything else is refused before the run, with
    the reason.
    """

    what: ClassVar[str] = "slow"
    example: ClassVar[str] = """\
at: 10s
slow_disk: {target: "leader(orders, 0)", write: 200ms}
for: 30s
"""

    read: Delay = 0.0
    """Additional time of each read."""
    write: Delay = 0.0
    """Additional time of each write."""

    @model_validator(mode="after")
    def _at_least_one(self) -> SlowDisk:
        if not (self.read or self.write):
            msg = "write read, write or both"
            raise ValueError(msg)
        return self

    def ill(self) -> Ill:
        """Return the delays in whole milliseconds."""
        return ("slow", str(round(self.read * 1000)), str(round(self.write * 1000)))
