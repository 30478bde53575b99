"""Commands that keep a supervisor from restarting a killed server, and release it again. Pure.

For systemd this is a drop-in. For a server started by scripts, the process around it (a loop, ``runsv``, or a shell
that ``runsv`` started) is stopped. Each kind has one constant script.
"""

from __future__ import annotations

from chaosk.hosts.commands.reversible import Reversible
from chaosk.hosts.commands.service import place
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess, SystemdService

TIMEOUT = 60.0
"""Time-out in seconds: at a reload systemd reads every unit file."""


def who(process: ServerProcess) -> str:
    """Return the name of the supervisor."""
    return "systemd" if isinstance(process.service, SystemdService) else "the process around it"


def held(process: ServerProcess, lease: str) -> Reversible:
    """Keep the supervisor from restarting the server, under that lease.

    It fits if no other unit changes with it. It is gone if nothing is left of it: on disk, in systemd, or as a stopped
    process.
    """
    return Reversible(*(_command(process, each, lease) for each in ("fits", "hold", "held", "release", "released")))


def hold_around(process: ServerProcess, lease: str) -> Command | None:
    """Hold the process around a server until its start; None for systemd, which restarts nothing after a stop."""
    return None if isinstance(process.service, SystemdService) else held(process, lease).put


def note(process: ServerProcess, lease: str) -> Command | None:
    """Record the processes around a server, so that a start waits for what they start; None for systemd."""
    return None if isinstance(process.service, SystemdService) else _command(process, "note", lease)


def _command(process: ServerProcess, action: str, lease: str) -> Command:
    name: str = "parent"
    its: tuple[str, ...] = place(process)
    if isinstance(process.service, SystemdService):
        name, its = "supervisor", (process.service.systemd,)
    return script_command(process.host, name, action, *its, lease, timeout=TIMEOUT)
