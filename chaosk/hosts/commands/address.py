"""Commands that add an extra address to a host: one constant script, run as root there. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

TIMEOUT = 30.0
"""Time-out in seconds: the check for an address in use waits three of them for an answer."""


def fits(host: str, which: str, address: str, ports: Iterable[int]) -> Command:
    """Check that the host can take the address: it is unused, and the servers on these TCP ports accept any address."""
    return _command(host, "fits", which, address, *map(str, ports))


def add(host: str, which: str, address: str) -> Command:
    """Add the address to the host."""
    return _command(host, "add", which, address)


def there(host: str, which: str, address: str) -> Command:
    """Check that the host has the address."""
    return _command(host, "there", which, address)


def remove(host: str, which: str, address: str) -> Command:
    """Remove the address, if ``add`` has added it."""
    return _command(host, "remove", which, address)


def is_gone(host: str, which: str, address: str) -> Command:
    """Check that there is no address to remove."""
    return _command(host, "gone", which, address)


def _command(host: str, action: str, *words: str) -> Command:
    argv = ("sh", "-c", script("address"), "chaosk", action, *words)
    return Command(host=host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
