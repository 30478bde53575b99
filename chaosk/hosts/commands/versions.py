"""Commands that switch a server to another installed version of Kafka: constant scripts, run as root on its host. Pure.

The server is started through a symbolic link. Which version it runs is told by the jar of Kafka's clients that its
process has open: every broker and every controller has one, and its name has the version in it.
"""

from __future__ import annotations

from typing import Literal

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import KafkaProcess

Span = Literal["release", "any"]
"""How far from the version in use: the same first two numbers, or any other."""

QUICK = 20.0
"""Seconds for a command that only looks, or has nothing to wait for."""
SLOW = 120.0
"""Seconds for a link that is put back: whoever runs from where it led ends first."""


def fits(process: KafkaProcess, version: str, span: Span) -> Command:
    """Whether it can be switched to a version, and back again."""
    return _command(process, "fits", *_to(process, version), span)


def point(process: KafkaProcess, version: str) -> Command:
    """Have the link name another installation; the process must be gone."""
    return _command(process, "point", *_to(process, version))


def is_switched(process: KafkaProcess, version: str) -> Command:
    """Whether the link names it, and the process runs that version from there."""
    return _command(process, "switched", *_to(process, version))


def is_away(process: KafkaProcess) -> Command:
    """Whether its link was pointed elsewhere, and what it named is known."""
    return _command(process, "away")


def leave(process: KafkaProcess, version: str) -> Command:
    """Stop it cleanly, unless it is seen to run from another installation than that one."""
    return service.stop_from(process, _folder(process, version))


def back(process: KafkaProcess) -> Command:
    """Have the link name what it named, once nothing runs from where it leads."""
    return _command(process, "back", timeout=SLOW)


def is_back(process: KafkaProcess) -> Command:
    """Whether there is nothing to put back, and the process runs from where the link leads."""
    return _command(process, "returned")


def _folder(process: KafkaProcess, version: str) -> str:
    if process.installation is None:
        raise ValueError(version)  # steps have asked for it
    return process.installation.versions[version]


def _to(process: KafkaProcess, version: str) -> tuple[str, str]:
    return version, _folder(process, version)


def _command(process: KafkaProcess, action: str, *words: str, timeout: float = QUICK) -> Command:
    link = process.installation.link if process.installation is not None else ""
    argv = ("sh", "-c", script("version"), "chaosk", action, link, *service.place(process), *words)
    return Command(host=process.host, argv=argv, sudo=True, timeout=timeout, repeatable=True)
