"""Commands that overwrite bytes of a partition's newest segment: one constant script, run as root there. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 120.0
"""Time-out in seconds: before a log is restored, a server that was told to stop has to end."""


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """The log of a partition on a broker."""

    process: ServerProcess
    folder: str
    """The data directory."""
    name: str
    """The partition, such as ``orders-0``."""
    which: str
    """Id of the saved bytes on the host."""


def fits(log: PartitionLog) -> Command:
    """Check that there is a segment to corrupt."""
    return _command(log, "fits")


def corrupt(log: PartitionLog) -> Command:
    """Overwrite bytes in the middle of the segment; the server must not run."""
    return _command(log, "corrupt")


def is_recovered(log: PartitionLog) -> Command:
    """Check that the corrupt bytes are gone."""
    return _command(log, "recovered")


def mend(log: PartitionLog) -> Command:
    """Restore the overwritten bytes, if they are still corrupt."""
    return _command(log, "mend")


def is_mended(log: PartitionLog) -> Command:
    """Check that nothing has to be restored."""
    return _command(log, "mended")


def _command(log: PartitionLog, action: str) -> Command:
    words = (action, log.which, log.folder, *service.place(log.process), log.name)
    argv = ("sh", "-c", script("corrupt"), "chaosk", *words)
    return Command(host=log.process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
