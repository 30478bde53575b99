"""The seam for what a lab host is made of: namespaces now, virtual machines one day."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from chaosk.lab.host_plan import Machine
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile


class HostKind(Protocol):
    """Makes hosts, ends them, and runs commands on them as root without SSH."""

    def check(self) -> None:
        """Raise LabError if this machine cannot carry such hosts."""
        ...

    def create(self, seats: tuple[Seat, ...], files: dict[str, tuple[HostFile, ...]], machine: Machine) -> None:
        """Make the network and everything hosts share, from what ``machine`` lends; ``files`` by host name."""
        ...

    def alive(self) -> bool:
        """Whether what :meth:`create` made still stands."""
        ...

    def start(self, host: str) -> None:
        """Start a host that does not run; returns before SSH answers."""
        ...

    def runs(self, host: str) -> bool:
        """Whether the host runs."""
        ...

    def failure(self, host: str) -> str | None:
        """Why a host that was started has ended, if it has."""
        ...

    def on_host(self, host: str, argv: Sequence[str], *, timeout: float = 60.0) -> str:
        """Standard output of ``argv``, run on the host as root; raises LabError, also after ``timeout`` seconds."""
        ...

    def fetch(self, host: str, path: str, to: Path) -> None:
        """Move a file of the host to ``to`` on this machine; raises LabError."""
        ...

    def read_log(self, host: str, path: str, lines: int) -> str:
        """The end of a file of the host, also when the host is down; raises LabError."""
        ...

    def destroy(self) -> None:
        """End all hosts and take away all that :meth:`create` made; nothing to do is fine."""
        ...
