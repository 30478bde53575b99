"""Commands that keep systemd from starting a server again when it ends, and let it again: one constant script. Pure.

Each is for a process that systemd runs; of one that scripts start nobody knows who else may start it.
"""

from __future__ import annotations

from chaosk.inventory import ServerProcess, SystemdService
from chaosk.scripts import script
from chaosk.transport.command import Command

TIMEOUT = 60.0
"""Seconds for a command: a reload has systemd read every unit file."""


def unit(process: ServerProcess) -> str | None:
    """The unit that systemd runs it as; None if scripts start it."""
    return process.service.systemd if isinstance(process.service, SystemdService) else None


def fits(process: ServerProcess, lease: str) -> Command:
    """Whether it can be held without any change to other units."""
    return _command(process, "fits", lease)


def hold(process: ServerProcess, lease: str) -> Command:
    """Keep systemd from starting it again, under that lease."""
    return _command(process, "hold", lease)


def is_held(process: ServerProcess, lease: str) -> Command:
    """Whether systemd would not start it again."""
    return _command(process, "held", lease)


def release(process: ServerProcess, lease: str) -> Command:
    """Let systemd do what it did before."""
    return _command(process, "release", lease)


def is_released(process: ServerProcess, lease: str) -> Command:
    """Whether nothing is left of the hold, on the disk or in systemd."""
    return _command(process, "released", lease)


def _command(process: ServerProcess, action: str, lease: str) -> Command:
    argv = ("sh", "-c", script("supervisor"), "chaosk", action, unit(process) or "", lease)
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
