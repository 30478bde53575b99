"""The interface of a kind of lab host: namespaces, or virtual machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from chaosk.lab.host_plan import Machine
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile


class HostKind(Protocol):
    """Creates and ends hosts, and runs commands on them as root."""

    patience: float
    """Time-out in seconds from a host's start until SSH answers."""
    grace: float
    """Seconds for services to start with their hosts, before they are started."""
    pause: float
    """Seconds between attempts to start a service."""

    def check(self) -> None:
        """Raise LabError if this machine does not support such hosts."""
        ...

    def prepare(self, jars: Path, tools: tuple[HostFile, ...], say: Callable[[str], object]) -> None:
        """Make what all labs with these ``jars`` share, unless it exists; ``tools`` are Kafka's. Raises LabError."""
        ...

    def create(self, seats: tuple[Seat, ...], files: dict[str, tuple[HostFile, ...]], machine: Machine) -> None:
        """Make the network and the shared parts of hosts, using ``machine``; ``files`` by host name."""
        ...

    def alive(self) -> bool:
        """Return whether the lab made by :meth:`create` is up."""
        ...

    def start(self, host: str) -> None:
        """Start a host that does not run; returns before SSH answers."""
        ...

    def runs(self, host: str) -> bool:
        """Return whether the host runs."""
        ...

    def failure(self, host: str) -> str | None:
        """Return why a started host has ended; None if it runs."""
        ...

    def wake(self, host: str, say: Callable[[str], object]) -> None:
        """Recover a host that runs but does not answer over SSH; raises LabError."""
        ...

    def last_words(self, host: str) -> str:
        """Return the end of a silent host's console; empty if it has none."""
        ...

    def on_host(self, host: str, argv: Sequence[str], *, timeout: float = 60.0) -> str:
        """Run ``argv`` on the host as root and return its output; raises LabError, also on a time-out in seconds."""
        ...

    def read_log(self, host: str, path: str, lines: int) -> str:
        """Return the last lines of a file on the host, also while it is down; raises LabError."""
        ...

    def destroy(self) -> None:
        """End all hosts and remove everything that :meth:`create` made; succeeds if nothing exists."""
        ...
