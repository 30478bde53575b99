"""Command that tries a TCP connection from a host."""

from __future__ import annotations

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command


def refused(host: str, address: str, port: int) -> Command:
    """Check that no connection from a host to an address is accepted within a second; needs no rights."""
    argv = ("sh", "-c", script("connect"), "chaosk", address, str(port))
    return Command(host=host, argv=argv, repeatable=True)
