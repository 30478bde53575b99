"""The interface of a transport, which carries commands to hosts."""

from __future__ import annotations

from typing import Protocol

from chaosk.spec.command import Command, Result


class Transport(Protocol):
    """Carries commands to hosts; usable from several threads."""

    def run(self, command: Command) -> Result:
        """Run a command to its end, whatever its exit status.

        Raises HostError if the host cannot be used, ConnectionLost if the outcome is unknown, and StepError if there is
        no such host or the answer cannot be read.
        """
        ...

    def close(self) -> None:
        """Close every connection; a later command makes a new one."""
        ...
