"""The analysis beside the run: its JVM starts and warms up while the probes drain, so its start costs nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from chaosk.errors import AnalysisError
from chaosk.eventstore import length
from chaosk.rundir import RunDir

_AT_LEAST = 900.0
_PER_MILLION = 100.0
"""Two cores take ten."""
_NICENESS = 5
"""A third of what others get: at 10, a tenth, judging beside another run took minutes, and nobody can take it back."""


def patience(rows: int) -> float:
    """Seconds that judging event tables of so many rows may take."""
    return _AT_LEAST + _PER_MILLION * rows / 1e6


class Analyst:
    """``python -m chaosk.analysis RUN_DIR --wait`` as a child that is told to go when the events are closed."""

    def __init__(self, rundir: RunDir) -> None:
        self._rundir = rundir
        self._log = rundir.root / "analysis.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "chaosk.analysis", str(rundir.root), "--wait"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                # Its warm-up must not take the processor from the probes whose latency is measured.
                preexec_fn=_step_back,  # noqa: PLW1509 - two system calls, before any thread of the child
                start_new_session=True,
            )

    def judge(self) -> dict[str, Any]:
        """Let it judge and wait for it: what it printed last (its timings). Raises AnalysisError with its words."""
        longest = patience(length(self._rundir))
        try:
            out, _ = self._process.communicate(b"go\n", timeout=longest)
        except subprocess.TimeoutExpired as error:
            self.close()
            raise AnalysisError(f"the analysis took over {longest:.0f} s; see {self._log}") from error
        lines = out.decode("utf-8", "replace").strip().splitlines()
        if self._process.returncode != 0 or not lines:
            raise AnalysisError(f"the analysis ended with {self._process.returncode}: {self._last_words()}")
        result: dict[str, Any] = json.loads(lines[-1])
        return result

    def close(self) -> None:
        """End it if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _last_words(self) -> str:
        lines = Path(self._log).read_text("utf-8", "replace").strip().splitlines()
        return f"{' / '.join(lines[-3:])} (all of it in {self._log})"


def _step_back() -> None:
    """Let others go first: those of this session, and other sessions.

    Where Linux groups tasks by session (autogroup, Debian's default), it weighs sessions against each other by a
    niceness of their own, and a task's only says where it stands within its session: see sched(7).
    """
    os.nice(_NICENESS)
    with suppress(OSError):  # a kernel without such groups, or another one was set less than 100 ms ago
        Path("/proc/self/autogroup").write_text(str(_NICENESS), "ascii")
