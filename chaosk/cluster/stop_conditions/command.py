"""Stop when a command of yours fails."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from chaosk.core.units import Duration
from chaosk.spec.contracts.stop_condition import StopCondition, StopConditionInputs, StopReason

_SAID = 200
"""Bytes shown of the end of its output."""


class FailingCommand(StopCondition):
    """Stop when a command does not end with status 0 in time; it runs on chaosk's machine, without a shell.

    A command that cannot be started stops the run as well, because the run would be unguarded.
    """

    example: ClassVar[str] = """\
stop_conditions:
  - command: {argv: [/usr/local/bin/shop-is-open, --quick], every: 2s}
"""

    argv: Annotated[tuple[Annotated[str, StringConstraints(min_length=1)], ...], Field(min_length=1, strict=False)]
    """The program and its arguments."""
    every: Annotated[Duration, Field(ge=0.1, le=600.0)] = 5.0
    """Pause between its end and its next start."""
    timeout: Annotated[Duration, Field(ge=0.1, le=60.0)] = 5.0
    """Time-out; at its expiry the command is killed with all its children."""

    def pause(self) -> float:
        """The configured pause."""
        return self.every

    def look(self, sight: StopConditionInputs) -> StopReason | None:  # noqa: ARG002 - it looks at nothing of chaosk's
        """Run it once."""
        with tempfile.TemporaryFile() as said:  # a file: leftover children would keep a pipe open
            try:
                process = subprocess.Popen(
                    self.argv, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
                )
            except (OSError, ValueError) as error:
                return self._seen(f"cannot be started: {error}")
            try:
                status = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                return self._seen(f"did not end within {self.timeout:g} s")
            finally:
                _end(process)
            if status == 0:
                return None
            said.seek(max(0, said.seek(0, os.SEEK_END) - _SAID))
            words = " ".join(said.read().decode("utf-8", "replace").split())
        return self._seen(f"ended with {status}{f': {words}' if words else ''}")

    def _seen(self, what: str) -> StopReason:
        return StopReason(time.monotonic_ns(), f"`{self.argv[0]}` {what}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it with its whole session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
