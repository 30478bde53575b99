"""Commands that make a data directory read-only: one constant script, run as root on the host. Pure."""

from __future__ import annotations

import hashlib

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 30.0
"""Seconds for a command: a host may be busy."""


def mount_id(run_id: str, entry: str, folder: str) -> str:
    """What names the note of a mount, on the host."""
    return hashlib.sha256(f"{run_id}/{entry}/{folder}".encode()).hexdigest()[:10]


def fits(process: ServerProcess, folder: str, which: str) -> Command:
    """Whether the directory can be made read-only for that server, and writable again."""
    return _command(process, "fits", folder, which)


def put(process: ServerProcess, folder: str, which: str) -> Command:
    """Make it read-only, in the mount namespace of the server."""
    return _command(process, "put", folder, which)


def stands(process: ServerProcess, folder: str, which: str) -> Command:
    """Whether the server has it read-only, or has ended by it."""
    return _command(process, "stands", folder, which)


def lift(process: ServerProcess, folder: str, which: str) -> Command:
    """Make it writable again."""
    return _command(process, "lift", folder, which)


def is_gone(process: ServerProcess, folder: str, which: str) -> Command:
    """Whether there is nothing to lift."""
    return _command(process, "gone", folder, which)


def _command(process: ServerProcess, action: str, folder: str, which: str) -> Command:
    argv = ("sh", "-c", script("readonly"), "chaosk", action, which, folder, *service.place(process))
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
