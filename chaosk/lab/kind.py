"""The seam for what a lab host is made of: namespaces, or virtual machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from chaosk.lab.host_plan import Machine
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile


class HostKind(Protocol):
    """Makes hosts, ends them, and runs commands on them as root."""

    patience: float
    """Seconds that a host may take from its start until SSH answers."""
    grace: float
    """Seconds that services have to start by themselves, with their hosts."""
    pause: float
    """Seconds between tries to start a service."""

    def check(self) -> None:
        """Raise LabError if this machine cannot carry such hosts."""
        ...

    def prepare(self, jars: Path, tools: tuple[HostFile, ...], say: Callable[[str], object]) -> None:
        """Make what all labs with these ``jars`` share, unless it is there; ``tools`` are Kafka's. Raises LabError."""
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

    def wake(self, host: str, say: Callable[[str], object]) -> None:
        """Do something for a host that runs and does not answer over SSH; raises LabError."""
        ...

    def last_words(self, host: str) -> str:
        """The end of what a host that does not answer wrote to its console; nothing where there is none."""
        ...

    def on_host(self, host: str, argv: Sequence[str], *, timeout: float = 60.0) -> str:
        """Standard output of ``argv``, run on the host as root; raises LabError, also after ``timeout`` seconds."""
        ...

    def read_log(self, host: str, path: str, lines: int) -> str:
        """The end of a file of the host, also when the host is down; raises LabError."""
        ...

    def destroy(self) -> None:
        """End all hosts and take away all that :meth:`create` made; nothing to do is fine."""
        ...
