"""What is to run on a host, and what came back: values, nothing that connects."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.core.printable import printable

_LONGEST = 160
"""Characters of a command in a message."""
_LAST = 300
"""Characters of an answer in a message."""


class Command(Model):
    """One program run on one host. ``argv`` is never read by a shell: quoting happens once, in the transport."""

    host: str
    """The inventory's name of the host."""
    argv: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    sudo: bool = False
    """Run it as root."""
    stdin: str | None = None
    alone: bool = False
    """Whether it gets a session of its own in any case: what it leaves behind may go on writing, or the session's start
    is what is asked about."""
    timeout: float = 10.0
    """Seconds until the command counts as hung; the host ends it then, so that it cannot take effect later."""
    repeatable: bool = False
    """Whether doing it twice is the same as doing it once: then it is sent again when the connection breaks."""

    @property
    def brief(self) -> str:
        """Its words on one line, for messages and logs: no script's text, and nothing that comes by standard input."""
        words = ["…" if "\n" in word else word for word in self.argv]
        line = " ".join(" ".join(words).split())
        return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


class Result(Model):
    """What a command did, with its times on the host and here."""

    command: Command
    exit_status: int
    stdout: str
    stderr: str
    sent: int
    """When the request left, nanoseconds of this machine's monotonic clock."""
    received: int
    """When the answer was here, same clock."""
    host_started: int
    """When it started, nanoseconds of the host's wall clock."""
    host_ended: int
    """When it ended, same clock."""

    @property
    def ok(self) -> bool:
        """Whether it ended with status 0."""
        return self.exit_status == 0

    @property
    def said(self) -> str:
        """The last of its errors, or else of its answer, on one line, for messages; its status if it said nothing."""
        return printable((self.stderr.strip() or self.stdout.strip())[-_LAST:]) or f"status {self.exit_status}"
