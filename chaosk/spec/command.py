"""A command for a host and its result: values that connect to nothing."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.core.printable import printable

_LONGEST = 160
"""Characters of a command in a message."""
_LAST = 300
"""Characters of output in a message."""


class Command(Model):
    """One program run on one host. No shell reads ``argv``: quoting happens once, in the transport."""

    host: str
    """The host's name in the inventory."""
    argv: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    sudo: bool = False
    """Run it as root."""
    stdin: str | None = None
    alone: bool = False
    """Run it in its own session: its background processes may go on writing, or the session's start is what is
    measured."""
    timeout: float = 10.0
    """Seconds until the command counts as hung; the host ends it then, so that it cannot take effect later."""
    repeatable: bool = False
    """Idempotent: the command is sent again if the connection breaks."""

    @property
    def brief(self) -> str:
        """The words on one line for messages and logs, without script texts and standard input."""
        words = ["…" if "\n" in word else word for word in self.argv]
        line = " ".join(" ".join(words).split())
        return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


class Result(Model):
    """A command's result, with its times on the host and on this machine."""

    command: Command
    exit_status: int
    stdout: str
    stderr: str
    sent: int
    """Departure of the request, nanoseconds of this machine's monotonic clock."""
    received: int
    """Arrival of the answer, same clock."""
    host_started: int
    """Start of the command, nanoseconds of the host's wall clock."""
    host_ended: int
    """End of the command, same clock."""

    @property
    def ok(self) -> bool:
        """True if the exit status is 0."""
        return self.exit_status == 0

    @property
    def said(self) -> str:
        """End of its standard error, or else of its output, on one line, for messages; its status if both are empty."""
        return printable((self.stderr.strip() or self.stdout.strip())[-_LAST:]) or f"status {self.exit_status}"
