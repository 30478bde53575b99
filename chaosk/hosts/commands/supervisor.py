"""Commands that keep a server down that was killed, and let go whoever would start it again. Pure.

Systemd is told to by a drop-in. Of a server that scripts start it is the process around it (a loop, ``runsv``, a shell
that ``runsv`` started), which is stopped. There is a constant script for each kind.
"""

from __future__ import annotations

from chaosk.hosts.commands.service import place
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess, SystemdService

TIMEOUT = 60.0
"""Seconds for a command: a reload has systemd read every unit file."""


def who(process: ServerProcess) -> str:
    """Who may start it again, in words."""
    return "systemd" if isinstance(process.service, SystemdService) else "the process around it"


def fits(process: ServerProcess, lease: str) -> Command:
    """Whether it can be held without any change to other units."""
    return _command(process, "fits", lease)


def hold(process: ServerProcess, lease: str) -> Command:
    """Keep systemd from starting it again, under that lease."""
    return _command(process, "hold", lease)


def hold_around(process: ServerProcess, lease: str) -> Command | None:
    """Hold the process around a server, until that is started; None of systemd, which a stop tells to start nothing."""
    return None if isinstance(process.service, SystemdService) else hold(process, lease)


def note(process: ServerProcess, lease: str) -> Command | None:
    """Write down who is around it, so that a start waits for what they start; None for systemd, which starts one."""
    return None if isinstance(process.service, SystemdService) else _command(process, "note", lease)


def is_held(process: ServerProcess, lease: str) -> Command:
    """Whether nobody would start it again."""
    return _command(process, "held", lease)


def release(process: ServerProcess, lease: str) -> Command:
    """Let whoever was held go on."""
    return _command(process, "release", lease)


def is_released(process: ServerProcess, lease: str) -> Command:
    """Whether nothing is left of the hold: on the disk, in systemd, or of a process that is stopped."""
    return _command(process, "released", lease)


def _command(process: ServerProcess, action: str, lease: str) -> Command:
    if isinstance(process.service, SystemdService):
        words: tuple[str, ...] = (script("supervisor"), "chaosk", action, process.service.systemd)
    else:
        words = (script("parent"), "chaosk", action, *place(process))
    argv = ("sh", "-c", *words, lease)
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
