"""Commands that set a data directory aside and replace it by an empty one: one constant script, run as root. Pure."""

from __future__ import annotations

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 120.0
"""Time-out in seconds: many thousand files may have to be counted or deleted."""


def fits(process: ServerProcess, folder: str, which: str) -> Command:
    """Check that the directory can be set aside and put back."""
    return _command(process, "fits", folder, which)


def wipe(process: ServerProcess, folder: str, which: str) -> Command:
    """Set the directory aside and create an empty one in its place; the server must not run."""
    return _command(process, "wipe", folder, which)


def stands(process: ServerProcess, folder: str, which: str) -> Command:
    """Check that a new directory is in place, and the original one set aside."""
    return _command(process, "stands", folder, which)


def settle(process: ServerProcess, folder: str, which: str) -> Command:
    """Put the original directory back, unless the server was started without it."""
    return _command(process, "settle", folder, which)


def is_settled(process: ServerProcess, folder: str, which: str) -> Command:
    """Check that there is no directory to put back."""
    return _command(process, "settled", folder, which)


def discard(process: ServerProcess, folder: str, which: str) -> Command:
    """Delete the directory set aside; fails if it is still needed."""
    return _command(process, "discard", folder, which)


def keep(process: ServerProcess, folder: str, which: str) -> Command:
    """Rename the directory set aside to ``FOLDER.kept-ID`` and print that; fails if it is still needed."""
    return _command(process, "keep", folder, which)


def _command(process: ServerProcess, action: str, folder: str, which: str) -> Command:
    argv = ("sh", "-c", script("wipe"), "chaosk", action, which, folder, *service.place(process))
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
