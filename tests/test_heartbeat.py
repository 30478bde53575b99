"""Heartbeats: a process that waits goes on, one that is stopped does not."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chaosk.rundir.events.heartbeat import PERIOD, heartbeats
from chaosk.rundir.events.live import LiveLog, read_live

AT_WORK = """
import sys, time
from pathlib import Path
from typing import Any
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.heartbeat import heartbeats
with LiveLog(Path(sys.argv[1])) as log, heartbeats(log, "writer-0"):
    print("at work", flush=True)
    sys.stdin.readline()
"""


def gaps(folder: Path) -> list[float]:
    """Seconds from each beat to the next."""
    times: list[Any] = read_live(folder / "heartbeats.arrows").table.column("at").to_pylist()
    return [(after - before) / 1e9 for before, after in pairwise(times)]


def test_a_loop_that_waits_goes_on(tmp_path: Path) -> None:
    """Held up for a second in one call, as by a commit that is not answered, with a beat at both ends of its life."""
    with LiveLog(tmp_path / "w") as log, heartbeats(log, "w"):
        time.sleep(1)
    found = gaps(tmp_path / "w")
    assert len(found) >= 3
    assert max(found) < 1


def test_how_late_a_beat_was_is_written_with_it(tmp_path: Path) -> None:
    """The first is due at once, the others a period after the one before."""
    with LiveLog(tmp_path / "w") as log, heartbeats(log, "w"):
        time.sleep(0.6)
    rows = read_live(tmp_path / "w" / "heartbeats.arrows").table.to_pylist()
    for before, row in pairwise(rows[:-1]):
        assert row["late"] == row["at"] - before["at"] - PERIOD
    assert {row["writer"] for row in rows} == {"w"}


@pytest.mark.parametrize("seconds", [1.5])
def test_a_process_that_is_stopped_misses_beats(tmp_path: Path, seconds: float) -> None:
    """SIGSTOP and SIGCONT from outside: the gap lasts as long as the stop, and it goes on after it."""
    words = [sys.executable, "-c", AT_WORK, str(tmp_path / "w")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.6)
        process.communicate("end\n")
    found = gaps(tmp_path / "w")
    assert max(found) >= seconds - 0.1
    assert len(found) >= 3
