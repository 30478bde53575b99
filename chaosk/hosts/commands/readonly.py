"""Commands that make a data directory read-only: one constant script, run as root on the host. Pure."""

from __future__ import annotations

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 30.0
"""Time-out in seconds, long enough for a busy host."""


def fits(process: ServerProcess, folder: str, which: str) -> Command:
    """Check that the directory can be made read-only for that server, and writable again."""
    return _command(process, "fits", folder, which)


def put(process: ServerProcess, folder: str, which: str) -> Command:
    """Make the directory read-only, in the mount namespace of the server."""
    return _command(process, "put", folder, which)


def stands(process: ServerProcess, folder: str, which: str) -> Command:
    """Check that the directory is read-only for the server, or that the server has ended."""
    return _command(process, "stands", folder, which)


def lift(process: ServerProcess, folder: str, which: str) -> Command:
    """Make the directory writable again."""
    return _command(process, "lift", folder, which)


def is_gone(process: ServerProcess, folder: str, which: str) -> Command:
    """Check that there is no mount to remove."""
    return _command(process, "gone", folder, which)


def _command(process: ServerProcess, action: str, folder: str, which: str) -> Command:
    argv = ("sh", "-c", script("readonly"), "chaosk", action, which, folder, *service.place(process))
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
