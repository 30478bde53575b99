"""The lifeline: the end of the parent is noticed, and nothing else is taken for it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from chaosk.probes.worker import lifeline
from chaosk.probes.worker.lifeline import ORPHANED, watch_parent


def test_the_end_of_the_pipe_is_the_end_of_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the parent holds the pipe nothing happens; when it is closed the callback comes."""
    # the last call would end this process, which is pytest's
    monkeypatch.setattr(lifeline, "LAST_CALL", threading.TIMEOUT_MAX)
    reading, writing = os.pipe()
    gone = threading.Event()
    watch_parent(gone.set, reading)
    os.write(writing, b"noise")
    assert not gone.wait(0.1)
    os.close(writing)
    assert gone.wait(5)


def test_a_process_started_by_hand_has_no_parent_to_lose(tmp_path: Path) -> None:
    """A file or a terminal as stdin is at its end at once, and means nothing."""
    (tmp_path / "file").write_text("")
    gone = threading.Event()
    with (tmp_path / "file").open() as file:
        watch_parent(gone.set, file.fileno())
        assert not gone.wait(0.2)


HANG = """
import os, sys, time
from chaosk.probes.worker import lifeline
lifeline.LAST_CALL = 0.3
lifeline.watch_parent(lambda: None)
time.sleep(60)
"""


def test_an_orphan_that_does_not_end_is_ended() -> None:
    """A process that ignores the loss of its parent is stopped after its last call."""
    with subprocess.Popen([sys.executable, "-c", HANG], stdin=subprocess.PIPE) as orphan:
        assert orphan.stdin is not None
        orphan.stdin.close()
        assert orphan.wait(20) == ORPHANED
