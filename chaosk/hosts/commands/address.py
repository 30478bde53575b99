"""Commands that give a host one address more: one constant script, run as root on the host. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

TIMEOUT = 30.0
"""Seconds for a command; whoever asks a network whose an address is waits three of them for nobody."""


def address_id(run_id: str, entry: str) -> str:
    """What names the note of an address, on the host."""
    return hashlib.sha256(f"{run_id}/{entry}".encode()).hexdigest()[:10]


def fits(host: str, which: str, address: str, ports: Iterable[int]) -> Command:
    """Whether the host can have it: nobody has it, and what serves these TCP ports serves them at every address."""
    return _command(host, "fits", which, address, *map(str, ports))


def add(host: str, which: str, address: str) -> Command:
    """Have it."""
    return _command(host, "add", which, address)


def there(host: str, which: str, address: str) -> Command:
    """Whether the host has it."""
    return _command(host, "there", which, address)


def remove(host: str, which: str, address: str) -> Command:
    """Take it away, and no other."""
    return _command(host, "remove", which, address)


def is_gone(host: str, which: str, address: str) -> Command:
    """Whether there is nothing to take away."""
    return _command(host, "gone", which, address)


def _command(host: str, action: str, *words: str) -> Command:
    argv = ("sh", "-c", script("address"), "chaosk", action, *words)
    return Command(host=host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
