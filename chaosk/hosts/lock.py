"""One run at a time per cluster: a lock on the hosts themselves, which a run that died loses by itself. Pure.

It is taken on one host after the other, in order of their names, so of several runs that come together exactly one gets
it: who gets the first host's lock gets them all. It is a lease like those of faults, renewed while the run lives.
"""

from __future__ import annotations

from chaosk.hosts.localhost import HERE
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

SECONDS = 30.0
"""How long a dead run keeps others out."""
HALTED = 3
"""What the host's scripts end with where the run was halted."""


def take(host: str, run: str, by: str, seconds: float = SECONDS) -> Command:
    """Get the lock on a host; fails, and says who has it, if another run does."""
    return _command(host, "take", run, f"{seconds:.2f}", f"the run {run} of {by}")


def keep(host: str, run: str, seconds: float = SECONDS) -> Command:
    """Hold it so many seconds from now on; fails if another run has taken it over."""
    return _command(host, "keep", run, f"{seconds:.2f}")


def leave(host: str, run: str) -> Command:
    """Give it back; what is not this run's stays."""
    return _command(host, "leave", run)


def show(host: str) -> Command:
    """Ask who has it."""
    return _command(host, "show")


def _command(host: str, *words: str) -> Command:
    argv = ("sh", "-c", script("lock"), "chaosk", *words)
    return Command(host=host, argv=argv, sudo=host != HERE, timeout=20.0, repeatable=True)
