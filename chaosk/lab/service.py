"""A service of the lab, and a file on a host: values for all kinds of hosts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from chaosk.lab.seating import Role


@dataclass(frozen=True, slots=True)
class Service:
    """One broker, controller or ZooKeeper node, and how to control it on its host."""

    role: Role
    number: int
    """Node id, or ``myid``."""
    host: str
    address: str
    port: int
    """The port that the lab itself asks: for a broker the listener between brokers, which is never secured."""
    start: tuple[str, ...]
    stop: tuple[str, ...]
    pid_file: str
    config: str
    data: tuple[str, ...]
    """Its data directories."""
    log: str
    rack: str | None = None
    """The broker's rack, if it has one."""
    advertised: str = ""
    """The name or address that a broker advertises to clients."""

    @property
    def output(self) -> str:
        """The file for the output of start scripts, for example the errors of a JVM that does not start."""
        folder = PurePosixPath(self.log).parent
        return str(folder / f"{folder.name}.out")

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"{self.role} {self.number}"


@dataclass(frozen=True, slots=True)
class HostFile:
    """A text file that a host has from the start."""

    path: str
    """Absolute path on the host."""
    text: str
    mode: int = 0o644
    only: Literal["hosts", "vms"] | None = None
    """The kind of host that has it; None for every kind."""

    @property
    def relative(self) -> PurePosixPath:
        """The path below the host's root."""
        return PurePosixPath(self.path).relative_to("/")
