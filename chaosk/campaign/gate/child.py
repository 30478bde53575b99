"""One `chaosk run` as a process, so that its failure ends no more than one attempt of a gate."""

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
from typing import IO, TextIO

from chaosk.campaign.gate.record import Attempt
from chaosk.core.errors import ExitCode

_LOOK = 0.1  # polling interval in seconds


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the process."""

    exit_code: int
    """Negative: the signal that ended it."""
    seconds: float
    said: str
    """The last line on stderr."""


def command(
    attempt: Attempt, inventory: str | None, output: Path, seed: int | None = None, lab: str | None = None
) -> list[str]:
    """Return the command line of `chaosk run` for an attempt; ``lab`` is the lab's name, if it is not its shape."""
    words = [sys.executable, "-m", "chaosk", "run", "--lifeline", attempt.file, "--output", str(output)]
    words += [] if inventory is None else ["--inventory", inventory]
    words += [] if lab is None else ["--lab", lab]
    words += ["--variant", attempt.variant] if attempt.variant else []
    words += [] if seed is None else ["--seed", str(seed)]
    return words + [word for name, value in attempt.sets.items() for word in ("--set", f"{name}={value}")]


def run(words: Sequence[str], stop: threading.Event, again: threading.Event, label: str = "") -> Ended:
    """Run a command until it has ended and healed; forward its output line by line, with ``label`` before each line.

    With a label it gets no terminal, since the live displays of several runs would overwrite each other.

    It runs in a session of its own, so that only this process passes a Ctrl-C on: once ``stop`` is set, it is asked to
    end and heal; once ``again`` is set as well, to leave the healing to the hosts. If this process dies, it ends and
    heals on its own, because its standard input is a pipe that closes then (``chaosk.probes.worker.lifeline``).
    """
    began = time.monotonic()
    last: deque[str] = deque(maxlen=20)
    pipe = subprocess.PIPE
    out = pipe if label else None
    with subprocess.Popen(words, stdin=pipe, stdout=out, stderr=pipe, start_new_session=True) as process:
        tellers = [threading.Thread(target=_tell, args=(process.stderr, sys.stderr, label, last), daemon=True)]
        tellers += (
            [threading.Thread(target=_tell, args=(process.stdout, sys.stdout, label), daemon=True)] if out else []
        )
        for each in tellers:
            each.start()
        told = 0
        while process.poll() is None:
            if told < stop.is_set() + again.is_set():
                told += 1
                process.send_signal(signal.SIGINT)
            time.sleep(_LOOK)
        for each in tellers:
            each.join(5.0)
    said = next((line.strip() for line in reversed(last) if line.strip()), "")
    # Interrupted before chaosk was loaded, with nothing begun: by the signal, or with 1 where Python was starting
    early = told and (process.returncode == -signal.SIGINT or said == KeyboardInterrupt.__name__)
    code = ExitCode.INTERRUPTED if early else process.returncode
    return Ended(code, time.monotonic() - began, said.removeprefix("chaosk: "))


def _tell(stream: IO[bytes] | None, to: TextIO, label: str, last: deque[str] | None = None) -> None:
    for line in stream or ():
        text = line.decode("utf-8", "replace")
        if last is not None:
            last.append(text)
        to.write(f"{label}{text}")
        to.flush()
