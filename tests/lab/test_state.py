"""Places and locks of the lab."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import state


def test_state_root_is_overridable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``CHAOSK_STATE`` moves everything; without it, it is /var/lib/chaosk."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    assert state.of("x").directory == tmp_path / "labs" / "x"
    monkeypatch.delenv("CHAOSK_STATE")
    assert state.of("x").directory == Path("/var/lib/chaosk/labs/x")


def test_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Labs are directories; lock files and a missing directory are none."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    assert state.names() == []
    for name in ("b", "a"):
        state.of(name).directory.mkdir(parents=True)
    state.of("c").lock.touch()
    assert state.names() == ["a", "b"]


def test_labs_do_not_share_places() -> None:
    """Two labs have nothing in common but the root."""
    one, other = state.of("one"), state.of("other")
    for place in ("directory", "namespace", "inventory", "alive", "control", "lock"):
        assert getattr(one, place) != getattr(other, place)


def test_the_lock_excludes_another_process(tmp_path: Path) -> None:
    """While one process holds the lock another waits, says so once, and gets it afterwards."""
    lock, log = tmp_path / ".x.lock", tmp_path / "log"
    script = (
        "import sys, pathlib\n"
        "from chaosk.lab import state\n"
        "lock, log = map(pathlib.Path, sys.argv[1:])\n"
        "with state.locked(lock, lambda: log.write_text('waiting')):\n"
        "    log.write_text(log.read_text() + ', got it')\n"
    )
    with state.locked(lock, lambda: None):
        process = subprocess.Popen([sys.executable, "-c", script, str(lock), str(log)])
        deadline = time.monotonic() + 20
        while not log.exists() or not log.read_text(encoding="ascii"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert log.read_text(encoding="ascii") == "waiting"
    assert process.wait(timeout=20) == 0
    assert log.read_text(encoding="ascii") == "waiting, got it"
    assert not lock.exists()


def test_the_lock_goes_with_its_holder(tmp_path: Path) -> None:
    """A holder that is killed leaves the file, but not the lock."""
    lock = tmp_path / ".x.lock"
    script = (
        "import sys, os, pathlib\n"
        "from chaosk.lab import state\n"
        "with state.locked(pathlib.Path(sys.argv[1]), lambda: None):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, str(lock)], check=False).returncode == -9
    assert lock.exists()
    waited: list[bool] = []
    with state.locked(lock, lambda: waited.append(True)):
        assert waited == []


def test_waiting_has_an_end(tmp_path: Path) -> None:
    """A lock that never comes free is one clear error."""
    lock = tmp_path / "lock"
    with (
        state.locked(lock, lambda: None),
        pytest.raises(LabError, match="held this lock for too long"),
        state.locked(lock, lambda: None, timeout=0.2),
    ):
        pytest.fail("two holders")


def _count(lock: Path, counter: Path) -> None:
    for _ in range(20):
        with state.locked(lock, lambda: None):
            counter.write_text(str(int(counter.read_text(encoding="ascii")) + 1), encoding="ascii")


def test_removal_of_the_file_does_not_let_two_in(tmp_path: Path) -> None:
    """The file goes at every release; still no two processes are ever inside together."""
    counter = tmp_path / "counter"
    counter.write_text("0", encoding="ascii")
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_count, args=(tmp_path / "lock", counter)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert counter.read_text(encoding="ascii") == "60"


def test_try_lock(tmp_path: Path) -> None:
    """The second open file gets no lock on the same file."""
    path = tmp_path / "x"
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    assert (state.try_lock(first), state.try_lock(second)) == (True, False)
    os.close(first)
    assert state.try_lock(second)
    os.close(second)
