"""A service of the lab, and a file on a host: values that the kinds of host carry out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from chaosk.lab.seating import Role


@dataclass(frozen=True, slots=True)
class Service:
    """One broker, controller or ZooKeeper node and how it is handled on its host."""

    role: Role
    number: int
    """Node id, or ``myid``."""
    host: str
    address: str
    port: int
    """Where the lab itself asks it: of a broker the listener between brokers, which is never secured."""
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
    """Of a broker, where clients are told to go: its address, or a name for it."""

    @property
    def output(self) -> str:
        """Where scripts send what the process says before it logs, or instead: what Java has against starting."""
        folder = PurePosixPath(self.log).parent
        return str(folder / f"{folder.name}.out")

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self.role} {self.number}"


@dataclass(frozen=True, slots=True)
class HostFile:
    """A text file that a host is born with."""

    path: str
    """Absolute, on the host."""
    text: str
    mode: int = 0o644
    only: Literal["hosts", "vms"] | None = None
    """The kind of host that has it; every kind if there is none."""

    @property
    def relative(self) -> PurePosixPath:
        """The path below the host's root."""
        return PurePosixPath(self.path).relative_to("/")
