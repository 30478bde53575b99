"""The analysis process of a run: its JVM starts and warms up during the timeline, so that its start costs no time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from chaosk.core import priority
from chaosk.core.errors import AnalysisError
from chaosk.run.standby import at_hand
from chaosk.rundir.events.store import length
from chaosk.rundir.paths import RunDir

_AT_LEAST = 900.0
_PER_MILLION = 100.0
"""Two cores take ten."""


def patience(rows: int) -> float:
    """Return the time-out in seconds for judging event tables of this many rows."""
    return _AT_LEAST + _PER_MILLION * rows / 1e6


class Analyst:
    """The standby analysis, if there is one, or ``python -m chaosk.analysis RUN_DIR --wait`` as a child process.

    Either starts Spark at once, and starts judging when the events are closed.
    """

    def __init__(self, rundir: RunDir) -> None:
        self._rundir = rundir
        self._log = rundir.root / "analysis.log"
        self._standby = at_hand()
        self._process = self._child() if self._standby is None else None

    def _child(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "chaosk.analysis", str(self._rundir.root)),
                    *("--wait", "--until", str(os.getpid())),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                # Its warm-up must not take the processor from the probes whose latency is measured.
                preexec_fn=priority.idle,  # noqa: PLW1509 - two system calls, before any thread of the child
                start_new_session=True,
            )

    def judge(self) -> dict[str, Any]:
        """Start judging and wait for the end; return its last output line (its timings). Raises AnalysisError."""
        longest = patience(length(self._rundir))
        try:
            if (told := self._asked(longest)) is not None:
                return told
            self._process = self._process or self._child()
            out, _ = self._process.communicate(b"go\n", timeout=longest)
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            self.close()
            raise AnalysisError(f"the analysis took over {longest:.0f} s; see {self._log}") from error
        lines = out.decode("utf-8", "replace").strip().splitlines()
        if self._process.returncode != 0 or not lines:
            raise AnalysisError(f"the analysis ended with {self._process.returncode}: {self._last_words()}")
        result: dict[str, Any] = json.loads(lines[-1])
        return result

    def _asked(self, longest: float) -> dict[str, Any] | None:
        """Return the answer of the standby analysis; None if there is no standby, or no answer."""
        if self._standby is None:
            return None
        told = self._standby.judge(self._rundir.root, longest)
        self._log.write_text(f"the analysis that stood by: {told or 'gave no answer'}\n", "utf-8")
        return told

    def close(self) -> None:
        """Kill it if it still runs."""
        if self._standby is not None:
            self._standby.close()
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _last_words(self) -> str:
        lines = Path(self._log).read_text("utf-8", "replace").strip().splitlines()
        return f"{' / '.join(lines[-3:])} (all of it in {self._log})"
