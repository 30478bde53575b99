"""Describe a host and the servers on it: one constant script. Pure."""

from __future__ import annotations

from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command

TIMEOUT = 60.0
"""Time-out in seconds: the script looks at every process, and for pid files."""


def describe(host: str, *, as_root: bool = True) -> Command:
    """Return the command that prints what a host runs, one fact a line; without root it prints less."""
    return script_command(host, "discover", timeout=TIMEOUT).model_copy(update={"sudo": as_root})
