"""Commands that set a data directory aside, for an empty one: one constant script, run as root on the host. Pure."""

from __future__ import annotations

import hashlib

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 120.0
"""Seconds for a command: many thousand files may have to be counted, or deleted."""


def wipe_id(run_id: str, entry: str, folder: str) -> str:
    """What names what is set aside, and the note of it, on the host."""
    return hashlib.sha256(f"{run_id}/{entry}/{folder}".encode()).hexdigest()[:10]


def fits(process: ServerProcess, folder: str, which: str) -> Command:
    """Whether the directory can be set aside, and put back."""
    return _command(process, "fits", folder, which)


def wipe(process: ServerProcess, folder: str, which: str) -> Command:
    """Set it aside, of a server that does not run, and have an empty one there."""
    return _command(process, "wipe", folder, which)


def stands(process: ServerProcess, folder: str, which: str) -> Command:
    """Whether another one is there, and the former one set aside."""
    return _command(process, "stands", folder, which)


def settle(process: ServerProcess, folder: str, which: str) -> Command:
    """Put the former one back, unless the server has been started without it."""
    return _command(process, "settle", folder, which)


def is_settled(process: ServerProcess, folder: str, which: str) -> Command:
    """Whether nothing has to be put back."""
    return _command(process, "settled", folder, which)


def discard(process: ServerProcess, folder: str, which: str) -> Command:
    """Delete what was set aside; fails where it is still needed."""
    return _command(process, "discard", folder, which)


def keep(process: ServerProcess, folder: str, which: str) -> Command:
    """Leave it beside the directory, as ``FOLDER.kept-ID``, and say so; fails where it is still needed."""
    return _command(process, "keep", folder, which)


def _command(process: ServerProcess, action: str, folder: str, which: str) -> Command:
    argv = ("sh", "-c", script("wipe"), "chaosk", action, which, folder, *service.place(process))
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
