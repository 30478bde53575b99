"""The cluster lock: one run at a time, kept on the hosts, and expiring if its run dies. Pure.

It is taken host after host, in the order of their names. So of several runs that start together, exactly one gets it:
the run that locks the first host. Like the lease of a fault, it is renewed while the run lives.
"""

from __future__ import annotations

from chaosk.hosts.localhost import HERE
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

SECONDS = 30.0
"""Seconds that the lock of a dead run keeps others out."""
HALTED = 3
"""Exit status of the host's scripts if the run was halted."""


def take(host: str, run: str, by: str, seconds: float = SECONDS) -> Command:
    """Take the lock on a host; fails, and prints the holder, if another run has it."""
    return _command(host, "take", run, f"{seconds:.2f}", f"the run {run} of {by}")


def keep(host: str, run: str, seconds: float = SECONDS) -> Command:
    """Renew the lock for so many seconds from now; fails if another run has taken it over."""
    return _command(host, "keep", run, f"{seconds:.2f}")


def leave(host: str, run: str) -> Command:
    """Release the lock, if this run has it."""
    return _command(host, "leave", run)


def show(host: str) -> Command:
    """Print the holder of the lock."""
    return _command(host, "show")


def _command(host: str, *words: str) -> Command:
    argv = ("sh", "-c", script("lock"), "chaosk", *words)
    return Command(host=host, argv=argv, sudo=host != HERE, timeout=20.0, repeatable=True)
