"""Have the disk of a broker's data directory fail."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosk.hosts.commands.mapper import Ill
from chaosk.steps._mapper_steps import MapperStep


class FailDisk(MapperStep):
    """Have the disk under a broker's data directory fail: every read and write, or every write, is answered by EIO.

    By device-mapper's `error` or `flakey`. What is in the page cache can still be read and written, so the broker may
    notice only when ext4 cannot write its journal (within seconds, if anybody writes) and the file system becomes
    read-only. It takes once the device has that table, and a read from it fails with `operations: all`. The undo kills
    the broker, whose page cache holds what no disk has, brings the table back, checks the file system (`e2fsck -p`),
    mounts it and starts the broker, which recovers its logs. Refused where slow_disk is, and where the file system is
    not ext4.
    """

    what: ClassVar[str] = "failing"
    example: ClassVar[str] = """\
at: 10s
fail_disk: {target: "leader(orders, 0)"}
for: 30s
"""

    operations: Literal["all", "writes"] = "all"
    """Which operations fail."""

    def ill(self) -> Ill:
        """Which operations."""
        return (self.operations,)
