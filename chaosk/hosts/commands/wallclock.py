"""Commands for the wall clock of a host with its own clock: one constant script, run as root."""

from __future__ import annotations

from chaosk.core.errors import StepError
from chaosk.hosts.localhost import boot_id
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

TIMEOUT = 60.0
"""Time-out in seconds: the script starts some dozens of programs, which is slow on a busy virtual machine."""


def fits(host: str, which: str, by: str) -> Command:
    """Check that the clock is this host's alone, is set by no other program, and is not moved already."""
    return _command(host, "fits", which, _own(), by)


def move(host: str, which: str, by: str) -> Command:
    """Move the clock, or make it drift; repeating it moves the clock no further.

    ``by`` is a number of milliseconds, or of millionths of elapsed time such as ``50000ppm``; a negative value is
    backwards. A drift has to run under a lease and ends with it. The host refuses if it shares its kernel.
    """
    return _command(host, "move", which, _own(), by)


def is_moved(host: str, which: str, by: str) -> Command:
    """Check that the clock is that far from its former course, measured by the time since boot."""
    return _command(host, "moved", which, _own(), by)


def restore(host: str, which: str) -> Command:
    """Set the clock back to its former course."""
    return _command(host, "restore", which)


def is_restored(host: str, which: str) -> Command:
    """Check that there is no clock to restore."""
    return _command(host, "restored", which)


def _own() -> str:
    """Return this machine's boot id; raises StepError if it is unknown: any clock may be this machine's then."""
    found = boot_id()
    if not found:
        raise StepError("this machine does not tell its boot id; no clock is moved unless it is known to be another's")
    return found


def _command(host: str, *arguments: str) -> Command:
    argv = ("sh", "-c", script("clock"), "chaosk", *arguments)
    return Command(host=host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
