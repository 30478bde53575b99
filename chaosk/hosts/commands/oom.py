"""Commands that make a host's kernel OOM-kill a server: one constant script, run as root there. Pure."""

from __future__ import annotations

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 30.0
"""Time-out in seconds, long enough for a busy host."""


def fits(process: ServerProcess, own: str, lease: str) -> Command:
    """Check that the kernel would kill this server and no other; ``own``: boot id of the machine that runs chaosk."""
    return _command(process, "fits", own, lease)


def kill(process: ServerProcess, own: str, lease: str) -> Command:
    """Make the kernel kill the server, under that lease."""
    return _command(process, "kill", own, lease, repeatable=False)


def is_killed(process: ServerProcess, own: str, lease: str) -> Command:
    """Check that the server is gone, and that the kernel's log gives the reason."""
    return _command(process, "killed", own, lease)


def spare(process: ServerProcess, own: str, lease: str) -> Command:
    """Restore the server's oom_score_adj, if it is still alive."""
    return _command(process, "spare", own, lease)


def is_spared(process: ServerProcess, own: str, lease: str) -> Command:
    """Check that no oom_score_adj has to be restored."""
    return _command(process, "spared", own, lease)


def _command(process: ServerProcess, action: str, own: str, lease: str, *, repeatable: bool = True) -> Command:
    argv = ("sh", "-c", script("oom"), "chaosk", action, own, lease, *service.place(process))
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=repeatable)
