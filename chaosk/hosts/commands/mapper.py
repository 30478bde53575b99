"""Commands that make disks slow or failing, by device-mapper: one constant script, run as root on the host. Pure."""

from __future__ import annotations

from typing import NamedTuple

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

Ill = tuple[str, ...]
"""The fault of the disk: ``slow`` and the extra milliseconds of a read and of a write, ``all`` or ``writes``."""

QUICK = 60.0
"""Time-out in seconds: the disk may be slow."""
MENDING = 180.0
"""Time-out in seconds for restoring a disk: its file system is checked."""


class MappedDisk(NamedTuple):
    """The disk under a server's data directory."""

    process: ServerProcess
    folder: str
    own: str
    """Boot id of the machine that runs chaosk: a device of its kernel is never changed."""
    id: str
    """Id of the note about the disk on the host."""


def fits(disk: MappedDisk, ill: Ill) -> Command:
    """Check that the disk's table can be replaced and restored."""
    return _command(disk, "fits", ill)


def put(disk: MappedDisk, ill: Ill) -> Command:
    """Replace the disk's table."""
    return _command(disk, "put", ill)


def stands(disk: MappedDisk, ill: Ill) -> Command:
    """Check that the disk has that table, and that a read shows its effect."""
    return _command(disk, "stands", ill)


def lift(disk: MappedDisk, ill: Ill) -> Command:
    """Restore the original table; after failures, the server is killed and the file system repaired."""
    return _command(disk, "lift", ill, MENDING)


def is_gone(disk: MappedDisk, ill: Ill) -> Command:
    """Check that there is no table to restore."""
    return _command(disk, "gone", ill)


def _command(disk: MappedDisk, action: str, ill: Ill, timeout: float = QUICK) -> Command:
    process, folder, own, which = disk
    argv = (
        *("sh", "-c", script("mapper"), "chaosk", action, own, which, folder),
        *(*service.place(process), *ill),
    )
    return Command(host=process.host, argv=argv, sudo=True, timeout=timeout, repeatable=True)
