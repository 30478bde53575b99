"""Commands that overwrite bytes of a partition's newest segment: one constant script, run as root on the host. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

TIMEOUT = 120.0
"""Seconds for a command: to mend a log it waits for the end of a server that was asked to stop."""


@dataclass(frozen=True, slots=True)
class Log:
    """A partition's log on a broker."""

    process: ServerProcess
    folder: str
    """The data directory."""
    name: str
    """Like ``orders-0``."""
    which: str
    """What names the note of what was overwritten, on the host."""


def corrupt_id(run_id: str, entry: str, folder: str, name: str) -> str:
    """An id for a log's note, the entry's own."""
    return hashlib.sha256(f"{run_id}/{entry}/{folder}/{name}".encode()).hexdigest()[:10]


def fits(log: Log) -> Command:
    """Whether there is a segment to corrupt."""
    return _command(log, "fits")


def corrupt(log: Log) -> Command:
    """Overwrite bytes in its middle, of a server that does not run."""
    return _command(log, "corrupt")


def is_recovered(log: Log) -> Command:
    """Whether they are not there any more."""
    return _command(log, "recovered")


def mend(log: Log) -> Command:
    """Put back what was there, where it is still needed."""
    return _command(log, "mend")


def is_mended(log: Log) -> Command:
    """Whether nothing has to be put back."""
    return _command(log, "mended")


def _command(log: Log, action: str) -> Command:
    words = (action, log.which, log.folder, *service.place(log.process), log.name)
    argv = ("sh", "-c", script("corrupt"), "chaosk", *words)
    return Command(host=log.process.host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
