"""Command that tries a TCP connection from a host."""

from __future__ import annotations

from chaosk.hosts.scripts import part
from chaosk.spec.command import Command


def refused(host: str, address: str, port: int) -> Command:
    """Check that no connection from a host to an address is accepted within a second.

    Needs no rights, so it is none of the scripts that the gate of a host lets in as root.
    """
    argv = ("sh", "-c", part("connect"), "chaosk", address, str(port))
    return Command(host=host, argv=argv, repeatable=True)
