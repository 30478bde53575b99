"""Commands for the wall clock of a host that has one of its own: one constant script, run as root."""

from __future__ import annotations

import hashlib

from chaosk.core.errors import StepError
from chaosk.hosts.localhost import boot_id
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

TIMEOUT = 60.0
"""Seconds for a command: it starts some dozens of programs, which takes a busy virtual machine a while."""


def clock_id(run_id: str, entry: str) -> str:
    """What marks the clock that a timeline entry moves."""
    return hashlib.sha256(f"{run_id}/{entry}".encode()).hexdigest()[:10]


def fits(host: str, which: str, by: str) -> Command:
    """Whether it is this host's alone, nobody else sets it, and it is not moved already."""
    return _command(host, "fits", which, _own(), by)


def move(host: str, which: str, by: str) -> Command:
    """Move it, or have it drift; doing it again moves it no further.

    ``by`` is a number of milliseconds, or millionths of the time that passes, like ``50000ppm``; below 0 is back. A
    drift needs a lease, with which it ends whoever dies. Refused by the host itself where others share its kernel.
    """
    return _command(host, "move", which, _own(), by)


def is_moved(host: str, which: str, by: str) -> Command:
    """Whether it is so far from where it was, by the time since boot."""
    return _command(host, "moved", which, _own(), by)


def restore(host: str, which: str) -> Command:
    """Put it where it would be by now."""
    return _command(host, "restore", which)


def is_restored(host: str, which: str) -> Command:
    """Whether there is nothing to put back."""
    return _command(host, "restored", which)


def _own() -> str:
    """This machine's boot id; raises StepError where it does not tell: then nothing is known to be another's."""
    found = boot_id()
    if not found:
        raise StepError("this machine does not tell its boot id; no clock is moved unless it is known to be another's")
    return found


def _command(host: str, *arguments: str) -> Command:
    argv = ("sh", "-c", script("clock"), "chaosk", *arguments)
    return Command(host=host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
