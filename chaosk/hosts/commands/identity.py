"""Check that a process is the server of the inventory: one constant script, run as root on its host. Pure."""

from __future__ import annotations

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess


def is_it(process: ServerProcess, number: int | None, *folders: str) -> Command:
    """Check that the process has its ports and its node id, and holds the lock of each of these data directories.

    ``number`` is the node id of a broker or a controller; None for servers without one in their configuration.
    """
    words = ("" if number is None else str(number), ",".join(map(str, service.ports(process))), *folders)
    return script_command(process.host, "identity", "is", *service.place(process), *words)
