"""Commands that fill a data directory: one constant script, run as root on the host. Pure."""

from __future__ import annotations

from typing import Literal

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

How = Literal["size", "free"]
"""``size``: the size of the file in bytes; ``free``: the bytes that it leaves free."""

QUICK = 20.0
"""Time-out in seconds for a check or a removal."""
SLOW = 90.0
"""Time-out in seconds for writing a large file on a file system that cannot reserve blocks."""


def file_name(folder: str, mark: str) -> str:
    """Return the path of an entry's file: in the data directory, where brokers ignore all that is no directory."""
    return f"{folder.rstrip('/')}/chaosk-fill-{mark}"


def fits(host: str, file: str, how: How, size: int) -> Command:
    """Check that the file fits and leaves room for leases; prints the free space."""
    return _command(host, "fits", file, how, str(size))


def fill(host: str, file: str, how: How, size: int) -> Command:
    """Create the file; repeating it creates the file again."""
    return _command(host, "fill", file, how, str(size), timeout=SLOW)


def is_filled(host: str, file: str, how: How, size: int) -> Command:
    """Check that the file has all its blocks and, for ``free``, that no more than the requested space is free."""
    return _command(host, "filled", file, how, str(size))


def empty(host: str, file: str) -> Command:
    """Remove the file."""
    return _command(host, "empty", file)


def is_gone(host: str, file: str) -> Command:
    """Check that the file does not exist."""
    return _command(host, "gone", file)


def _command(host: str, action: str, *words: str, timeout: float = QUICK) -> Command:
    argv = ("sh", "-c", script("disk"), "chaosk", action, *words)
    return Command(host=host, argv=argv, sudo=True, timeout=timeout, repeatable=True)
