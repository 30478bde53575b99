"""A process beside chaosk that reports on stdout: start, output, end and kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from chaosk.core.errors import ChaoskError
from chaosk.core.spare import Spares

LOG = "stderr.jsonl"
"""Name of the file for its stderr."""


class Child:
    """``python -m MODULE SPEC`` in a separate session, so that a Ctrl-C at the terminal reaches only chaosk.

    A thread reads its stdout, so that it never blocks; its stdin is its lifeline (``chaosk.probes.worker.lifeline``).
    """

    def __init__(
        self,
        module: str,
        spec: Path,
        heard: Callable[[str], None],
        seen: Callable[[list[str]], list[str]] = list,
        spares: Spares | None = None,
    ) -> None:
        """Starts it; ``heard`` gets every line of its stdout. Its stderr goes to ``stderr.jsonl`` beside its spec.

        ``seen`` maps its command to the one that is executed. A process of ``spares`` is used if there is one.
        """
        self.log = spec.with_name(LOG)
        """The file with its stderr."""
        spare = spares.assign(module, spec, self.log) if spares is not None else None
        self._process = spare or self._start(seen([sys.executable, "-m", module, str(spec)]))
        self._listener = threading.Thread(target=self._listen, args=(heard,), daemon=True, name=f"{module} listener")
        self._listener.start()

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        try:
            with self.log.open("ab") as log:
                return subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
                )
        except OSError as error:
            raise ChaoskError(f"{command[2]}: cannot start the process: {error.strerror}") from error

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def exit_status(self) -> int | None:
        """Return its exit status, negative for the signal that ended it; None while it runs."""
        return self._process.poll()

    def stop(self, timeout: float) -> int:
        """End it cleanly (SIGTERM), or kill it after ``timeout`` seconds; return its exit status."""
        self._process.send_signal(signal.SIGTERM)
        self.thaw()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self._gone()

    def kill(self) -> int:
        """Kill it (SIGKILL), and return its exit status."""
        self._process.kill()
        return self._gone()

    def freeze(self) -> None:
        """Stop it (SIGSTOP) until :meth:`thaw`; no effect on an ended process."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume it (SIGCONT); no effect on a running or an ended process."""
        self._process.send_signal(signal.SIGCONT)

    def frozen(self) -> bool:
        """Return True if a signal has stopped it (state T of proc(5))."""
        with suppress(OSError, IndexError):
            return Path(f"/proc/{self.pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] == "T"
        return False

    def last_words(self) -> str:
        """Return the last lines of its stderr, with the reason of its death."""
        with suppress(OSError):
            lines = self.log.read_text("utf-8", "replace").strip().splitlines()
            return " / ".join(_event(line) for line in lines[-3:])[:1000]
        return ""

    def _gone(self) -> int:
        status = self._process.wait()
        self._listener.join(timeout=5)
        return status

    def _listen(self, heard: Callable[[str], None]) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for above
        assert self._process.stdin is not None  # noqa: S101 - and so was this
        with self._process.stdin, self._process.stdout as lines:
            for line in lines:
                heard(line.decode("utf-8", "replace"))
            self._process.wait()  # the lifeline is released only then


def _event(line: str) -> str:
    with suppress(ValueError):
        said = json.loads(line)
        if isinstance(said, dict) and "event" in said:
            return str(said["event"])
    return line
