"""Commands that look at a host and change nothing. Pure."""

from __future__ import annotations

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import part, script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess


def describe(host: str, *, as_root: bool = True) -> Command:
    """Return the command that prints what a host runs, one fact a line; without root it prints less.

    The script looks at every process, and for pid files.
    """
    return script_command(host, "discover", timeout=60.0).model_copy(update={"sudo": as_root})


def is_server(process: ServerProcess, number: int | None, *folders: str) -> Command:
    """Check that the process has its ports and its node id, and holds the lock of each of these data directories.

    ``number`` is the node id of a broker or a controller; None for servers without one in their configuration.
    """
    words = ("" if number is None else str(number), ",".join(map(str, service.ports(process))), *folders)
    return script_command(process.host, "identity", "is", *service.place(process), *words)


def refused(host: str, address: str, port: int) -> Command:
    """Check that no connection from a host to an address is accepted within a second.

    Needs no rights, so it is none of the scripts that the gate of a host lets in as root.
    """
    argv = ("sh", "-c", part("connect"), "chaosk", address, str(port))
    return Command(host=host, argv=argv, repeatable=True)
