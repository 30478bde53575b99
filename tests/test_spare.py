"""Processes started before they are needed: who gets which, and what ends those that nobody needs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaosk.core.spare import Spares, assigned

MODULE = "waits_for_its_specification"
TEXT = """
import sys
from chaosk.core.spare import assigned

path = assigned(sys.argv[1])
print(path.read_text(), flush=True)
print("went wrong", file=sys.stderr, flush=True)
sys.stdin.read()
"""
PARENT = f"""
import os, sys, time
from chaosk.core.spare import Spares

spares = Spares()
spares.start({MODULE!r})
print(spares._waiting[0][1].pid, flush=True)
time.sleep(60)
"""


def until(holds: Callable[[], bool]) -> None:
    """Wait for it."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def spares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spares]:
    """No spare process yet; a module whose processes print their specification."""
    (tmp_path / f"{MODULE}.py").write_text(TEXT, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    these = Spares()
    yield these
    these.close()


def answer(process: subprocess.Popen[bytes]) -> str:
    """The first line that a process prints; its end after that."""
    assert process.stdout is not None
    assert process.stdin is not None
    with process.stdout, process.stdin:
        line = process.stdout.readline().decode().strip()
    assert process.wait(20) == 0
    return line


def test_each_specification_goes_to_one_process(spares: Spares, tmp_path: Path) -> None:
    """As many as were started; then none is left, and whoever needs one starts it."""
    spares.start(MODULE, 2)
    assert spares.assign("another_module", tmp_path / "x", tmp_path / "y") is None
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"of {name}", "utf-8")
        process = spares.assign(MODULE, tmp_path / name, tmp_path / f"{name}.log")
        assert process is not None
        assert answer(process) == f"of {name}"
        assert (tmp_path / f"{name}.log").read_text("utf-8") == "went wrong\n"
    assert spares.assign(MODULE, tmp_path / "one", tmp_path / "log") is None


def test_one_that_has_ended_is_not_assigned(spares: Spares, tmp_path: Path) -> None:
    """Somebody killed it: the next one is taken."""
    spares.start(MODULE, 2)
    first = spares._waiting[0][1]
    first.kill()
    first.wait()
    (tmp_path / "spec").write_text("of the second", "utf-8")
    process = spares.assign(MODULE, tmp_path / "spec", tmp_path / "log")
    assert process is not None
    assert process.pid != first.pid
    assert answer(process) == "of the second"


def test_those_that_nothing_was_assigned_to_end_with_the_run(spares: Spares) -> None:
    """A run that is refused leaves none behind."""
    spares.start(MODULE, 3)
    started = [process for _, process in spares._waiting]
    spares.close()
    assert [process.returncode is not None for process in started] == [True] * 3


def test_a_spare_ends_with_its_parent(spares: Spares) -> None:
    """Killed at once, without a word to its children."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout:
        pid = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    until(lambda: not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes())


def test_a_path_is_taken_as_it_is() -> None:
    """A process that was not started to wait reads nothing."""
    assert assigned("spec.json") == Path("spec.json")
