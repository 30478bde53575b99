"""One `chaosk run` as a process: what ends it ends no more than one attempt of a gate."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from chaosk.release.record import Attempt

_LOOK = 0.1  # seconds between two looks at whether to go on


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended."""

    exit_code: int
    """Negative for the signal that ended it."""
    seconds: float
    said: str
    """The last line on stderr."""


def command(attempt: Attempt, inventory: str | None, output: Path, seed: int | None = None) -> list[str]:
    """The words of `chaosk run` for an attempt."""
    words = [sys.executable, "-m", "chaosk", "run", "--lifeline", attempt.file, "--output", str(output)]
    words += [] if inventory is None else ["--inventory", inventory]
    words += ["--variant", attempt.variant] if attempt.variant else []
    words += [] if seed is None else ["--seed", str(seed)]
    return words + [word for name, value in attempt.sets.items() for word in ("--set", f"{name}={value}")]


def run(words: Sequence[str], stop: threading.Event, again: threading.Event) -> Ended:
    """Run it to its end, which is healed; what it prints is seen as it comes.

    In a session of its own, so that a Ctrl-C comes to it from here alone: once ``stop`` is set, it is told to end and
    heal; once ``again`` is set as well, to leave the healing to the hosts. Should this process die, it ends and heals
    by itself: its standard input is a pipe that closes then (``chaosk.worker.lifeline``).
    """
    began = time.monotonic()
    last: deque[str] = deque(maxlen=20)
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stderr=pipe, start_new_session=True) as process:
        teller = threading.Thread(target=_tell, args=(process.stderr, last), daemon=True)
        teller.start()
        told = 0
        while process.poll() is None:
            if told < stop.is_set() + again.is_set():
                told += 1
                process.send_signal(signal.SIGINT)
            time.sleep(_LOOK)
        teller.join(5.0)
    said = next((line.strip() for line in reversed(last) if line.strip()), "")
    return Ended(process.returncode, time.monotonic() - began, said.removeprefix("chaosk: "))


def _tell(stderr: IO[bytes] | None, last: deque[str]) -> None:
    for line in stderr or ():
        text = line.decode("utf-8", "replace")
        last.append(text)
        sys.stderr.write(text)
