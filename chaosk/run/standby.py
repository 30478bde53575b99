"""A standby analysis shared by several runs: finding it, sending it requests, and starting it.

Judging a run took 22 to 28 s of processor time in a JVM of its own, and 4 to 8 in one that had judged before. So
commands with several runs, ``chaosk gate`` and ``chaosk explore``, start one (``standing_by``), and each run tries it
first. It is optional: a run that finds none, or gets no answer, starts an analysis of its own.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from chaosk.core.priority import step_back

VARIABLE = "CHAOSK_STANDBY"
"""Environment variable with the path of its socket."""
_CONNECT = 5.0
_END = 10.0


class Standby:
    """A connection to it. It starts Spark at the first connection, so connect early."""

    def __init__(self, path: str) -> None:
        """Connect; raises OSError if it does not run."""
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(_CONNECT)
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise

    def judge(self, root: Path, patience: float) -> dict[str, Any] | None:
        """Have it judge a run directory and return its timings; None on failure.

        Raises TimeoutError if it has not answered within so many seconds: it may still be writing there.
        """
        try:
            self._socket.settimeout(patience)
            self._socket.sendall(json.dumps(str(root)).encode() + b"\n")
            with self._socket.makefile("rb") as answer:
                told: dict[str, Any] = json.loads(answer.readline())
        except TimeoutError:
            raise
        except (OSError, ValueError):
            return None
        return told

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def at_hand() -> Standby | None:
    """Return a connection to the standby that the environment names; None if there is none."""
    path = os.environ.get(VARIABLE)
    if path:
        with suppress(OSError):
            return Standby(path)
    return None


@contextmanager
def standing_by(log: Path) -> Iterator[None]:
    """Run one for the processes started in this context, unless there is one; its output goes to ``log``.

    It needs next to nothing until the first request, and ends with this process in any case. If it cannot be started,
    for lack of space or of a short enough path for its socket, there is none.
    """
    if VARIABLE in os.environ:
        yield
        return
    with (
        tempfile.TemporaryDirectory(prefix="chaosk-standby-", ignore_cleanup_errors=True) as folder,
        ExitStack() as stack,
    ):
        with suppress(OSError):
            path = str(Path(folder, "socket"))
            stack.callback(_end, _start(path, log))
            os.environ[VARIABLE] = path
            stack.callback(os.environ.pop, VARIABLE, None)
        yield


def _start(path: str, log: Path) -> subprocess.Popen[bytes]:
    with socket.socket(socket.AF_UNIX) as listener, log.open("ab") as words:
        listener.bind(path)
        listener.listen(128)
        return subprocess.Popen(
            [sys.executable, "-m", "chaosk.analysis.standby", str(listener.fileno())],
            stdin=subprocess.PIPE, stdout=words, stderr=words, pass_fds=[listener.fileno()],
            preexec_fn=step_back,  # noqa: PLW1509 - two system calls, before any thread of the child
            start_new_session=True,
        )  # fmt: skip


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it by closing its standard input."""
    try:
        process.communicate(timeout=_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
