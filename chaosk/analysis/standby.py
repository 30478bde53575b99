"""Judge run after run in one Spark session: ``python -m chaosk.analysis.standby DESCRIPTOR``.

Requests arrive over an inherited listening socket (``chaosk.run.standby`` keeps it). A connection announces a run, so
Spark is started then. A line with the path of the run directory, as JSON, requests its judgement. The answer is a line
like the last one of ``python -m chaosk.analysis``. A large run has no answer, since its JVM needs other settings. Nor
has a run that could not be judged: the process exits then, since a failed session may have leftover state, and the
client sees the connection close.
"""

from __future__ import annotations

import json
import os
import shutil
import socketserver
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, TypeVar

from chaosk.core import files
from chaosk.core.errors import ExitCode
from chaosk.probes.worker.lifeline import watch_parent
from chaosk.rundir.events.store import length
from chaosk.rundir.paths import existing

if TYPE_CHECKING:
    from chaosk.analysis.one_session import OneSession

T = TypeVar("T")


class Judge:
    """A session for one thread only, started on demand."""

    def __init__(self) -> None:
        self._spark: OneSession | None = None

    def ready(self) -> OneSession:
        """Start Spark in the background, if it is not running."""
        from chaosk.analysis.one_session import OneSession  # noqa: PLC0415 - there may be no request

        if self._spark is None:
            self._spark = OneSession()
            self._spark.prepare()
        return self._spark

    def answer(self, root: Path) -> bytes:
        """Judge a run and return the answer line; empty if the run is too large."""
        from chaosk.analysis.analyze import analyze  # noqa: PLC0415 - as above
        from chaosk.analysis.process import close_events  # noqa: PLC0415 - as above
        from chaosk.analysis.spark import LARGE  # noqa: PLC0415 - as above

        rundir = existing(root)
        close_events(rundir)
        if length(rundir) >= LARGE:
            return b""
        spark, began = self.ready(), time.monotonic()
        verdict = analyze(spark, rundir)
        spark.forget()  # the next run must not see this one's frames
        seconds = {"judge": round(time.monotonic() - began, 3)}
        told = {"verdict": str(rundir.verdict), "outcome": verdict.verdict, "seconds": seconds}
        return json.dumps(told).encode() + b"\n"


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Server with a thread per connection, which mostly waits."""

    daemon_threads = True


def serve(listener: socket) -> None:
    """Answer requests until the parent has ended."""
    judge = Judge()
    pool = ThreadPoolExecutor(1, "judge")

    def done(work: Callable[[], T]) -> T:
        try:
            return pool.submit(work).result()
        except BaseException:  # noqa: BLE001 - any error
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(ExitCode.INTERNAL)  # the JVM ends with its standard input

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            done(judge.ready)
            with suppress(OSError):  # the client may have left
                if line := self.rfile.readline():
                    self.wfile.write(done(lambda: judge.answer(Path(json.loads(line)))))

    with _Server("", Handler, bind_and_activate=False) as server:
        server.socket.close()
        server.socket = listener
        server.serve_forever()


def main(words: list[str]) -> None:
    """Serve at an inherited descriptor."""
    files.keep_private()
    listener = socket(fileno=int(words[0]))

    def orphaned() -> None:
        shutil.rmtree(Path(listener.getsockname()).parent, ignore_errors=True)  # the parent may have been killed
        os._exit(ExitCode.PASS)

    watch_parent(orphaned)
    serve(listener)


if __name__ == "__main__":
    main(sys.argv[1:])
