"""The cluster lock: one run at a time, kept on the hosts, and expiring if its run dies. Pure.

It is taken host after host, in the order of their names. So of several runs that start together, exactly one gets it:
the run that locks the first host. Like the lease of a fault, it is renewed while the run lives.
"""

from __future__ import annotations

from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command

SECONDS = 30.0
"""Seconds that the lock of a dead run keeps others out."""
HALTED = 3
"""Exit status of the host's scripts if the run was halted."""


def take(host: str, run: str, by: str, seconds: float = SECONDS) -> Command:
    """Take the lock on a host; fails, and prints the holder, if another run has it."""
    return script_command(host, "lock", "take", run, f"{seconds:.2f}", f"the run {run} of {by}", timeout=20.0)


def keep(host: str, run: str, seconds: float = SECONDS) -> Command:
    """Renew the lock for so many seconds from now; fails if another run has taken it over."""
    return script_command(host, "lock", "keep", run, f"{seconds:.2f}", timeout=20.0)


def leave(host: str, run: str) -> Command:
    """Release the lock, if this run has it."""
    return script_command(host, "lock", "leave", run, timeout=20.0)


def show(host: str) -> Command:
    """Print the holder of the lock."""
    return script_command(host, "lock", "show", timeout=20.0)
