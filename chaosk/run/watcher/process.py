"""The watcher's process as the run sees it: start, state and end."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from chaosk.core.errors import StepError
from chaosk.core.spare import Spares
from chaosk.run.watcher.spec import WatcherSpec
from chaosk.run.watcher.state import WatcherState

MODULE = "chaosk.run.watcher"
"""What the watcher's process runs."""


class WatcherProcess:
    """One watcher; only :meth:`stop` blocks."""

    def __init__(
        self,
        spec: WatcherSpec,
        file: Path,
        seen: Callable[[list[str]], list[str]] = list,
        spares: Spares | None = None,
    ) -> None:
        """Start it; ``file`` is for its specification, and its stderr goes beside it as ``.stderr``.

        ``seen`` maps its command to the one that is executed. A process of ``spares`` is used if there is one.
        """
        file.write_text(spec.model_dump_json(by_alias=True), "utf-8")
        self._said = file.with_suffix(".stderr")
        self._state: WatcherState | None = None
        spare = spares.assign(MODULE, file, self._said) if spares is not None else None
        self._process = spare or self._start(seen([sys.executable, "-m", MODULE, str(file)]))
        if self._process.stdout is not None:
            threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self._said.open("wb") as stderr:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)

    @property
    def running(self) -> bool:
        """True while it runs."""
        return self._process.poll() is None

    def state(self) -> WatcherState | None:
        """Return its last state; None before the first one, which takes half a second."""
        return self._state

    def stop(self, within: float = 5.0) -> None:
        """End it cleanly; raises StepError with its stderr if it had died, or if it does not end in time."""
        if self.running:
            self._process.terminate()
        try:
            status = self._process.wait(within)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise StepError(f"the watcher did not end within {within:g} s; its last events are lost") from None
        finally:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
        if status != 0:
            raise StepError(f"the watcher ended with {status}: {self.last_words()}")

    def last_words(self) -> str:
        """Return the end of its stderr."""
        return self._said.read_text("utf-8", "replace").strip()[-500:]

    def _listen(self, stdout: IO[bytes]) -> None:
        try:
            for line in stdout:
                self._state = WatcherState.model_validate_json(line)
        except (ValidationError, ValueError):
            return  # half a line, or the pipe was closed: it ended
