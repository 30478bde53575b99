"""`chaosk run` as a process of a gate: what it ended with, what it said last, and how it is told to end."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sample_gate import attempt

from chaosk.campaign.gate.child import command, run

PATIENT = """
import signal, sys, time
def heal(*_):
    print("healing", file=sys.stderr, flush=True)
    signal.signal(signal.SIGINT, lambda *_: sys.exit(3))
    time.sleep(float(sys.argv[1]))
    sys.exit(130)
signal.signal(signal.SIGINT, heal)
print("ready", file=sys.stderr, flush=True)
time.sleep(60)
"""


GATE = """
import sys, threading
from chaosk.campaign.gate.child import run
run([sys.executable, "-c", sys.argv[1], *sys.argv[2:]], threading.Event(), threading.Event())
"""
ORPHAN = """
import sys, pathlib
print("ready", file=sys.stderr, flush=True)
sys.stdin.read()
pathlib.Path(sys.argv[1]).write_text("its gate is gone")
"""


def unset() -> threading.Event:
    """An event that nobody sets."""
    return threading.Event()


def test_it_learns_that_its_gate_is_dead(tmp_path: Path) -> None:
    """Killed outright a gate can tell nobody anything: what it left running knows by the end of its input."""
    told = tmp_path / "told"
    with subprocess.Popen([sys.executable, "-c", GATE, ORPHAN, str(told)], stderr=subprocess.PIPE, text=True) as gate:
        assert gate.stderr is not None
        assert gate.stderr.readline() == "ready\n"
        assert not told.exists()
        gate.kill()
    deadline = time.monotonic() + 20.0
    while not told.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert told.exists()


def test_the_words_of_a_run() -> None:
    """Scenario, place, cluster and variables, as one would write them."""
    told = "-m chaosk run --lifeline /scenarios/kill.yaml --output /out --inventory /lab.yaml --set down=9s"
    assert command(attempt(sets={"down": "9s"}), "/lab.yaml", Path("/out"))[1:] == told.split()
    assert "--inventory" not in command(attempt(), None, Path("/out"))
    one = command(attempt(variant="acks=all, retries=0"), None, Path("/out"), seed=7)
    assert one[-4:] == ["--variant", "acks=all, retries=0", "--seed", "7"]
    assert command(attempt(), None, Path("/out"), lab="lab-2")[-2:] == ["--lab", "lab-2"]


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("import sys; print('chaosk: no such host', file=sys.stderr); sys.exit(69)", 69, "no such host"),
        ("import sys; print('one\\ntwo\\n\\n', file=sys.stderr)", 0, "two"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9, ""),
    ],
)
def test_how_it_ended(program: str, code: int, said: str) -> None:
    """Its code, or the signal; the last line that says something."""
    ended = run([sys.executable, "-c", program], unset(), unset())
    assert (ended.exit_code, ended.said) == (code, said)


@pytest.mark.parametrize(("heals", "more", "code"), [("0", False, 130), ("30", True, 3)])
def test_it_is_told_to_end_and_waited_for(
    heals: str, code: int, capfd: pytest.CaptureFixture[str], *, more: bool
) -> None:
    """Once, so that it heals in peace; a second time only if the user asks again."""
    stop, again = threading.Event(), threading.Event()

    def ask() -> None:
        time.sleep(1.0)
        stop.set()
        if more:
            time.sleep(1.0)
            again.set()

    threading.Thread(target=ask, daemon=True).start()
    ended = run([sys.executable, "-c", PATIENT, heals], stop, again)
    assert (ended.exit_code, ended.said) == (code, "healing")
    assert ended.seconds < 20.0
    assert "ready" in capfd.readouterr().err


@pytest.mark.parametrize(("label", "before"), [("", ""), ("[2] ", "[2] ")])
def test_its_lines_can_be_told_from_those_of_others(label: str, before: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Each line of both streams has the label before it, and what it said last has none."""
    program = "import sys; print('one'); print('two'); print('chaosk: three', file=sys.stderr)"
    ended = run([sys.executable, "-c", program], unset(), unset(), label)
    told = capfd.readouterr()
    assert told.out == f"{before}one\n{before}two\n"
    assert told.err == f"{before}chaosk: three\n"
    assert ended.said == "three"


def test_told_before_it_could_hear_it_is_interrupted() -> None:
    """Python itself ends by the signal until chaosk is loaded: nothing was begun, so it is to be run again."""
    stop = unset()
    stop.set()
    program = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); time.sleep(60)"
    ended = run([sys.executable, "-c", program], stop, unset())
    assert ended.exit_code == 130
    assert run([sys.executable, "-c", "import os; os.kill(os.getpid(), 2)"], unset(), unset()).exit_code != 130


def test_told_while_python_starts_it_is_interrupted(tmp_path: Path) -> None:
    """Python ends with 1 then, which is the exit code of a violation."""
    stop = unset()
    ready = tmp_path / "ready"
    (tmp_path / "sitecustomize.py").write_text(
        f"import pathlib, time; pathlib.Path({str(ready)!r}).touch(); time.sleep(60)", "utf-8"
    )
    watch = threading.Thread(target=lambda: _set_once_there(ready, stop))
    watch.start()
    ended = run(["env", f"PYTHONPATH={tmp_path}", sys.executable, "-c", ""], stop, unset())
    watch.join()
    assert (ended.exit_code, ended.said) == (130, "KeyboardInterrupt")
    program = "raise KeyboardInterrupt"
    assert run([sys.executable, "-c", program], unset(), unset()).exit_code != 130


def _set_once_there(path: Path, stop: threading.Event) -> None:
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    stop.set()
