"""Commands for the wall clock of a host that has one of its own: one constant script, run as root."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from chaosk.errors import StepError
from chaosk.scripts import script
from chaosk.transport.command import Command

TIMEOUT = 60.0
"""Seconds for a command: it starts some dozens of programs, which takes a busy virtual machine a while."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def clock_id(run_id: str, entry: str) -> str:
    """What marks the clock that a timeline entry moves."""
    return hashlib.sha256(f"{run_id}/{entry}".encode()).hexdigest()[:10]


@cache
def own_boot() -> str:
    """What tells this machine's kernel from every other; raises StepError where that cannot be read."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StepError(f"{_BOOT_ID}: {error}; no clock is moved unless it is known not to be this machine's") from None


def fits(host: str, which: str, milliseconds: int) -> Command:
    """Whether it is this host's alone, nobody else sets it, and it is not moved already."""
    return _command(host, "fits", which, own_boot(), str(milliseconds))


def move(host: str, which: str, milliseconds: int) -> Command:
    """Move it; doing it again moves it no further. Refused by the host itself where others share its kernel."""
    return _command(host, "move", which, own_boot(), str(milliseconds))


def is_moved(host: str, which: str, milliseconds: int) -> Command:
    """Whether it is so far from where it was, by the time since boot."""
    return _command(host, "moved", which, own_boot(), str(milliseconds))


def restore(host: str, which: str) -> Command:
    """Put it where it would be by now."""
    return _command(host, "restore", which)


def is_restored(host: str, which: str) -> Command:
    """Whether there is nothing to put back."""
    return _command(host, "restored", which)


def _command(host: str, *arguments: str) -> Command:
    argv = ("sh", "-c", script("clock"), "chaosk", *arguments)
    return Command(host=host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
