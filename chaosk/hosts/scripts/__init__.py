"""Shell scripts that run on hosts: constant texts that take values only as arguments."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from chaosk.hosts.localhost import HERE
from chaosk.spec.command import Command

PARTS = {
    "address": ("address",),
    "boot": ("own", "boot"),
    "certificate": ("owned", "program", "tool", "configs", "certificate"),
    "clock": ("kept", "marked", "clock"),
    "corrupt": ("owned", "process", "enter", "corrupt"),
    "cut": ("rules", "cut_iptables", "cut_nft", "cut"),
    "discover": ("owned", "discover"),
    "disk": ("enter", "disk"),
    "dump": ("owned", "program", "dump"),
    "examine": ("owned", "examine"),
    "identity": ("owned", "process", "identity"),
    "lease": ("kept", "lease"),
    "load": ("marked", "load"),
    "lock": ("kept", "lock"),
    "mapper": ("own", "owned", "process", "mapper"),
    "oom": ("own", "owned", "process", "oom"),
    "owner": ("enter", "owner"),
    "parent": ("owned", "process", "around", "parent"),
    "power": ("power",),
    "readonly": ("owned", "process", "readonly"),
    "reset": ("rules", "reset"),
    "service": ("owned", "process", "around", "jar", "service"),
    "settings": ("owned", "program", "tool", "configs", "settings"),
    "shape": ("rules", "kept", "shape"),
    "state": ("owned", "state"),
    "supervisor": ("supervisor",),
    "topic": ("owned", "program", "tool", "topic"),
    "version": ("owned", "process", "enter", "jar", "version"),
    "wipe": ("owned", "process", "enter", "wipe"),
}
"""The files of each script that needs root, in order; ``fail`` is before all of them."""
UNPRIVILEGED = ("connect",)
"""Scripts that run as the login's account: a host's sudo gate has none of them."""


@cache
def script(name: str) -> str:
    """Return the text of a script of :data:`PARTS`, for ``sh -c``."""
    return "\n".join(map(part, ("fail", *PARTS[name])))


def script_command(
    host: str, name: str, *words: str, timeout: float = 30.0, stdin: str | None = None, repeatable: bool = True,
    alone: bool = False,
) -> Command:  # fmt: skip
    """Return the command that runs a script of :data:`PARTS`, as root on a host and as chaosk's account on HERE."""
    argv = ("sh", "-c", script(name), "chaosk", *words)
    return Command(
        host=host, argv=argv, sudo=host != HERE, stdin=stdin, timeout=timeout, repeatable=repeatable, alone=alone
    )


@cache
def part(name: str) -> str:
    """Return the text of ``name``.sh in this package."""
    return files(__name__).joinpath(f"{name}.sh").read_text(encoding="utf-8")
