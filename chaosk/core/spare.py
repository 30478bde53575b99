"""Processes started before they are needed: loading the libraries of a probe takes half a second of a processor.

A spare process is ``python -m MODULE -``. It loads what it needs, calls :func:`assigned`, and waits there until its
parent assigns it a specification, by one line on its standard input. It ends if its parent goes without that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

WAIT = "-"
"""The argument of a process that waits for its specification."""


class Spares:
    """The spare processes of a run, each in its own session: a Ctrl-C at the terminal does not reach them."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._waiting: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(self, module: str, count: int = 1) -> None:
        """Start that many processes of a module; one that cannot be started now is started when it is needed."""
        for _ in range(count):
            with suppress(OSError):
                process = subprocess.Popen(
                    [sys.executable, "-m", module, WAIT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                self._waiting.append((module, process))

    def assign(self, module: str, spec: Path, stderr: Path) -> subprocess.Popen[bytes] | None:
        """Give a specification to a spare process of a module, and a file for its stderr; None if there is none."""
        for waiting in [one for one in self._waiting if one[0] == module]:
            self._waiting.remove(waiting)
            process = waiting[1]
            line = json.dumps({"spec": str(spec.absolute()), "stderr": str(stderr.absolute())})
            with suppress(OSError):  # it has ended
                assert process.stdin is not None  # noqa: S101 - it was asked for above
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()
                return process
            _end(process)
        return None

    def close(self) -> None:
        """End those that nothing was assigned to."""
        waiting, self._waiting = self._waiting, []
        for _, process in waiting:
            _end(process)


def assigned(argument: str) -> Path:
    """Return the path of the specification: the argument, or for ``-`` the assigned one, once it is assigned.

    Ends the process, with status 0, if its parent ends first.
    """
    if argument != WAIT:
        return Path(argument)
    line = bytearray()
    while not line.endswith(b"\n"):  # byte by byte: what follows is not this function's to read
        if not (one := os.read(0, 1)):
            os._exit(0)
        line += one
    told = json.loads(line)
    log = os.open(told["stderr"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    os.dup2(log, 2)
    os.close(log)
    return Path(told["spec"])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
