"""What a transport is: it carries commands to hosts."""

from __future__ import annotations

from typing import Protocol

from chaosk.spec.command import Command, Result


class Transport(Protocol):
    """Carries commands to hosts; usable from several threads."""

    def run(self, command: Command) -> Result:
        """Run to the end, whatever the exit status.

        Raises HostError if the host cannot be used, ConnectionLost if the outcome is unknown, StepError if there is
        no such host or what came back is no answer.
        """
        ...

    def close(self) -> None:
        """Close every connection; a later command makes a new one."""
        ...
