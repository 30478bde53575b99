"""Commands for the room in a data directory: one constant script, run as root on the host. Pure."""

from __future__ import annotations

import hashlib
from typing import Literal

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

How = Literal["size", "free"]
"""``size``: the file has so many bytes; ``free``: so many are left to everybody else."""

QUICK = 20.0
"""Seconds to look, or to remove."""
SLOW = 90.0
"""Seconds to write a large file, where the file system cannot reserve it at once."""


def file_name(folder: str, run_id: str, entry: str) -> str:
    """Where the file of a timeline entry lies: brokers pass over what is no directory in theirs."""
    digest = hashlib.sha256(f"{run_id}/{entry}".encode()).hexdigest()[:10]
    return f"{folder.rstrip('/')}/chaosk-fill-{digest}"


def fits(host: str, file: str, how: How, size: int) -> Command:
    """Whether the file can be placed and leaves room for leases; says how much is free."""
    return _command(host, "fits", file, how, str(size))


def fill(host: str, file: str, how: How, size: int) -> Command:
    """Place it; doing it again places it anew."""
    return _command(host, "fill", file, how, str(size), timeout=SLOW)


def is_filled(host: str, file: str, how: How, size: int) -> Command:
    """Whether it is there with all its blocks, and, for ``free``, as much is free as was asked for."""
    return _command(host, "filled", file, how, str(size))


def empty(host: str, file: str) -> Command:
    """Remove it."""
    return _command(host, "empty", file)


def is_gone(host: str, file: str) -> Command:
    """Whether it is not there."""
    return _command(host, "gone", file)


def _command(host: str, action: str, *words: str, timeout: float = QUICK) -> Command:
    argv = ("sh", "-c", script("disk"), "chaosk", action, *words)
    return Command(host=host, argv=argv, sudo=True, timeout=timeout, repeatable=True)
