"""Whether a process is the server that the inventory calls so: one constant script, run as root on its host. Pure."""

from __future__ import annotations

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 30.0
"""Seconds for the command: a host may be busy."""


def is_it(process: ServerProcess, number: int | None, *folders: str) -> Command:
    """Whether the process has its ports and its node id, and the lock of each of these data directories.

    ``number``: the node id, of a broker or a controller; None where configurations have none.
    """
    words = ("" if number is None else str(number), ",".join(map(str, service.ports(process))), *folders)
    argv = ("sh", "-c", script("identity"), "chaosk", "is", *service.place(process), *words)
    return Command(host=process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
