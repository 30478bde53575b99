"""Commands by which a host's kernel kills a server for its memory: one constant script, run as root there. Pure."""

from __future__ import annotations

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 30.0
"""Seconds for a command: a host may be busy."""


def fits(process: ServerProcess, own: str, lease: str) -> Command:
    """Whether the kernel would kill it and no other; ``own``: the boot id of the machine that chaosk runs on."""
    return _command(process, "fits", own, lease)


def kill(process: ServerProcess, own: str, lease: str) -> Command:
    """Have the kernel kill it, under that lease."""
    return _command(process, "kill", own, lease, repeatable=False)


def is_killed(process: ServerProcess, own: str, lease: str) -> Command:
    """Whether it is gone, and the kernel's log says why."""
    return _command(process, "killed", own, lease)


def spare(process: ServerProcess, own: str, lease: str) -> Command:
    """If it lives on, make it no likelier to be killed than it was."""
    return _command(process, "spare", own, lease)


def is_spared(process: ServerProcess, own: str, lease: str) -> Command:
    """Whether no process is likelier to be killed than it was."""
    return _command(process, "spared", own, lease)


def _command(process: ServerProcess, action: str, own: str, lease: str, *, repeatable: bool = True) -> Command:
    argv = ("sh", "-c", script("oom"), "chaosk", action, own, lease, *service.place(process))
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=repeatable)
