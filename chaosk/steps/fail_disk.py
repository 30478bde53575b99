"""Make the disk of a broker's data directory fail."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosk.hosts.commands.reversible import Ill
from chaosk.steps._mapper_steps import MapperStep


class FailDisk(MapperStep):
    """Make the disk under a broker's data directory fail: every read and write, or every write, returns EIO.

    It uses device-mapper's `error` or `flakey`. The page cache can still be read and written. So the broker may notice
    only when ext4 cannot write its journal (within seconds if there are writes) and the file system becomes read-only.
    The step takes once the device has that table and, with `operations: all`, a read from it fails. The undo kills the
    broker, whose page cache has data that no disk has. It restores the table, checks the file system (`e2fsck -p`),
    mounts it and starts the broker, which recovers its logs. Refused where slow_disk is, and for file systems other
    than ext4.
    """

    what: ClassVar[str] = "failing"
    example: ClassVar[str] = """\
at: 10s
fail_disk: {target: "leader(orders, 0)"}
for: 30s
"""

    operations: Literal["all", "writes"] = "all"
    """The operations that fail."""

    def ill(self) -> Ill:
        """Return the operations that fail."""
        return (self.operations,)
