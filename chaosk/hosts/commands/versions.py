"""Commands that switch a server to another installed version of Kafka: constant scripts, run as root there. Pure.

The server is started through a symbolic link. Its version is that of the kafka-clients jar that its process has open:
every broker and every controller has one, and the version is in the jar's name.
"""

from __future__ import annotations

from typing import Literal

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import KafkaProcess

Span = Literal["release", "any"]
"""Allowed distance from the version in use: the same first two numbers, or any."""

QUICK = 20.0
"""Time-out in seconds for a command that waits for nothing."""
SLOW = 120.0
"""Time-out in seconds for restoring a link: processes that run from its present target end first."""


def fits(process: KafkaProcess, version: str, span: Span) -> Command:
    """Check that the server can be switched to a version and back."""
    return _command(process, "fits", *_to(process, version), span)


def point(process: KafkaProcess, version: str) -> Command:
    """Point the link at another installation; the process must be gone."""
    return _command(process, "point", *_to(process, version))


def is_switched(process: KafkaProcess, version: str) -> Command:
    """Check that the link points there, and that the process runs that version from there."""
    return _command(process, "switched", *_to(process, version))


def is_away(process: KafkaProcess) -> Command:
    """Check that the link was changed and that its original target is known."""
    return _command(process, "away")


def leave(process: KafkaProcess, version: str) -> Command:
    """Stop the server cleanly, unless it is known to run from another installation than that one."""
    return service.stop_from(process, _folder(process, version))


def back(process: KafkaProcess) -> Command:
    """Restore the link, once no process runs from its present target."""
    return _command(process, "back", timeout=SLOW)


def is_back(process: KafkaProcess) -> Command:
    """Check that there is no link to restore, and that the process runs from the link's target."""
    return _command(process, "returned")


def _folder(process: KafkaProcess, version: str) -> str:
    if process.installation is None:
        raise ValueError(version)  # steps check it first
    return process.installation.versions[version]


def _to(process: KafkaProcess, version: str) -> tuple[str, str]:
    return version, _folder(process, version)


def _command(process: KafkaProcess, action: str, *words: str, timeout: float = QUICK) -> Command:
    link = process.installation.link if process.installation is not None else ""
    return script_command(process.host, "version", action, link, *service.place(process), *words, timeout=timeout)
