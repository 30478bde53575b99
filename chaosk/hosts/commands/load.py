"""Commands that load a host's processors or memory: one constant script, run as root. Pure."""

from __future__ import annotations

from typing import Literal

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

Kind = Literal["cpu", "memory"]

QUICK = 20.0
"""Time-out in seconds."""


def fits(host: str, kind: Kind, which: str, much: str) -> Command:
    """Check that the host can take the load: ``much`` busy loops or KiB, or parts per million such as ``500000ppm``."""
    return _command(host, "fits", kind, which, much)


def put(host: str, kind: Kind, which: str, much: str) -> Command:
    """Start the load; repeating it starts it again. It has to run under a lease and ends with it."""
    return _command(host, "put", kind, which, much)


def stands(host: str, kind: Kind, which: str, much: str) -> Command:
    """Check that the whole load is in place, by the kernel's counters."""
    return _command(host, "stands", kind, which, much)


def lift(host: str, kind: Kind, which: str) -> Command:
    """End the load."""
    return _command(host, "lift", kind, which)


def is_gone(host: str, kind: Kind, which: str) -> Command:
    """Check that no process of the load is left."""
    return _command(host, "gone", kind, which)


def _command(host: str, *words: str) -> Command:
    argv = ("sh", "-c", script("load"), "chaosk", *words)
    return Command(host=host, argv=argv, sudo=True, timeout=QUICK, repeatable=True)
