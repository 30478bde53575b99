"""Commands that keep a supervisor from restarting a killed server, and release it again. Pure.

For systemd this is a drop-in. For a server started by scripts, the process around it (a loop, ``runsv``, or a shell
that ``runsv`` started) is stopped. Each kind has one constant script.
"""

from __future__ import annotations

from chaosk.hosts.commands.service import place
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess, SystemdService

TIMEOUT = 60.0
"""Time-out in seconds: at a reload systemd reads every unit file."""


def who(process: ServerProcess) -> str:
    """Return the name of the supervisor."""
    return "systemd" if isinstance(process.service, SystemdService) else "the process around it"


def fits(process: ServerProcess, lease: str) -> Command:
    """Check that the supervisor can be held without a change to other units."""
    return _command(process, "fits", lease)


def hold(process: ServerProcess, lease: str) -> Command:
    """Keep the supervisor from restarting the server, under that lease."""
    return _command(process, "hold", lease)


def hold_around(process: ServerProcess, lease: str) -> Command | None:
    """Hold the process around a server until its start; None for systemd, which restarts nothing after a stop."""
    return None if isinstance(process.service, SystemdService) else hold(process, lease)


def note(process: ServerProcess, lease: str) -> Command | None:
    """Record the processes around a server, so that a start waits for what they start; None for systemd."""
    return None if isinstance(process.service, SystemdService) else _command(process, "note", lease)


def is_held(process: ServerProcess, lease: str) -> Command:
    """Check that the supervisor would not restart the server."""
    return _command(process, "held", lease)


def release(process: ServerProcess, lease: str) -> Command:
    """Release the supervisor."""
    return _command(process, "release", lease)


def is_released(process: ServerProcess, lease: str) -> Command:
    """Check that nothing is left of the hold: on disk, in systemd, or as a stopped process."""
    return _command(process, "released", lease)


def _command(process: ServerProcess, action: str, lease: str) -> Command:
    if isinstance(process.service, SystemdService):
        words: tuple[str, ...] = (script("supervisor"), "chaosk", action, process.service.systemd)
    else:
        words = (script("parent"), "chaosk", action, *place(process))
    argv = ("sh", "-c", *words, lease)
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
