"""Commands for disks that are slow or fail, by device-mapper: one constant script, run as root on the host. Pure."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

Ill = tuple[str, ...]
"""What the disk has: ``slow`` and so many milliseconds more for a read and for a write, ``all`` or ``writes``."""

QUICK = 60.0
"""Seconds for a command: the disk may be slow."""
MENDING = 180.0
"""Seconds to bring it back: a file system is checked."""


class Disk(NamedTuple):
    """The disk under a server's data directory."""

    process: ServerProcess
    folder: str
    own: str
    """The boot id of the machine that chaosk runs on: nothing of its kernel is touched."""
    id: str
    """What the note of it is called on the host."""


def disk_id(run_id: str, entry: str, folder: str) -> str:
    """What names the note of the disk's own table, on the host."""
    return hashlib.sha256(f"{run_id}/{entry}/{folder}".encode()).hexdigest()[:10]


def fits(disk: Disk, ill: Ill) -> Command:
    """Whether the disk can be given another table, and its own again."""
    return _command(disk, "fits", ill)


def put(disk: Disk, ill: Ill) -> Command:
    """Give it the other table."""
    return _command(disk, "put", ill)


def stands(disk: Disk, ill: Ill) -> Command:
    """Whether it has that table, and a read feels it."""
    return _command(disk, "stands", ill)


def lift(disk: Disk, ill: Ill) -> Command:
    """Give it its own table again; after a failure the server is killed and the file system mended."""
    return _command(disk, "lift", ill, MENDING)


def is_gone(disk: Disk, ill: Ill) -> Command:
    """Whether there is nothing to lift."""
    return _command(disk, "gone", ill)


def _command(disk: Disk, action: str, ill: Ill, timeout: float = QUICK) -> Command:
    process, folder, own, which = disk
    argv = (
        *("sh", "-c", script("mapper"), "chaosk", action, own, which, folder),
        *(*service.place(process), *ill),
    )
    return Command(host=process.host, argv=argv, sudo=True, timeout=timeout, repeatable=True)
