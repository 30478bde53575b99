"""A probe's process: started, listened to, ended, killed and orphaned, against librdkafka's mock cluster."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chaosk.core.errors import EventLogError
from chaosk.probes.produce import Produce
from chaosk.probes.worker.process import ProbeProcess
from chaosk.probes.worker.spec import WorkerSpec
from chaosk.rundir.events.live import read_live
from chaosk.rundir.events.writer_reports import writer_of
from chaosk.spec.contracts.live import ProbeState

MOCK: dict[str, Any] = {"bootstrap.servers": "mock", "test.mock.num.brokers": 2, "log_level": 5}


def spec(folder: Path, rate: str = "1000/s", **client: Any) -> WorkerSpec:
    """A producer with a mock cluster in its own process."""
    return WorkerSpec(
        run_id="run-1", probe="writer", incarnation=0, kind="produce",
        fields=Produce.model_validate({"topic": "orders", "rate": rate}).model_dump(mode="json"),
        client={**MOCK, **client}, live=str(folder / writer_of("writer", 0)),
    )  # fmt: skip


def until(process: ProbeProcess, reached: Callable[[ProbeState], bool], within: float = 30) -> ProbeState:
    """Wait for a state."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if reached(process.state()):
            return process.state()
        time.sleep(0.02)
    raise AssertionError(f"not reached: {process.state()} {process.last_words()}")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., ProbeProcess]]:
    """Starts processes; kills what a test left running."""
    started: list[ProbeProcess] = []

    def begin(**client: Any) -> ProbeProcess:
        started.append(ProbeProcess(spec(tmp_path, **client)))
        return started[-1]

    yield begin
    for process in started:
        if process.exit_status() is None:
            process.kill()


def sends(folder: Path) -> list[int]:
    """The sequence numbers that were logged."""
    found: list[Any] = read_live(folder / "writer-0" / "sends.arrows").table.column("seq").to_pylist()
    return found


def test_it_says_how_much_it_wrote_and_that_it_went_on(start: Callable[..., ProbeProcess], tmp_path: Path) -> None:
    """Frozen for a second and a half by a signal from outside: a gap in its heartbeats, and a word on every table."""
    process = start()
    until(process, lambda state: state.ok > 300)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(process.pid, signal.SIGCONT)
    until(process, lambda state: state.ok > 2_000)
    assert process.stop(20) == 0
    tables = {path.stem: read_live(path).table for path in (tmp_path / "writer-0").glob("*.arrows")}
    beats: list[Any] = tables["heartbeats"].column("at").to_pylist()
    assert max(after - before for before, after in pairwise(beats)) >= 1_400_000_000
    said = {row["table"]: (row["rows"], row["run_id"], row["writer"]) for row in tables["stream_ends"].to_pylist()}
    assert said == {name: (table.num_rows, "run-1", "writer-0") for name, table in tables.items()}


def test_one_that_is_killed_says_nothing_of_how_much_it_wrote(
    start: Callable[..., ProbeProcess], tmp_path: Path
) -> None:
    """It could not; what it had handed over is there."""
    process = start()
    until(process, lambda state: state.ok > 300)
    process.kill()
    assert not (tmp_path / "writer-0" / "stream_ends.arrows").exists()
    assert sends(tmp_path)


def test_it_reports_and_ends_cleanly(start: Callable[..., ProbeProcess], tmp_path: Path) -> None:
    """Progress while it runs; after SIGTERM an exit status of 0, an end marker, and every due record on file."""
    process = start()
    assert process.state().running
    until(process, lambda state: state.ok > 300)
    assert process.stop(20) == 0
    state = process.state()
    assert (state.running, state.exit_status) == (False, 0)
    assert state.scheduled == state.ok
    assert sorted(sends(tmp_path)) == list(range(state.scheduled))
    (end,) = read_live(tmp_path / "writer-0" / "ends.arrows").table.to_pylist()
    assert end["scheduled"] == state.scheduled


def test_a_second_stop_and_a_late_kill_are_harmless(start: Callable[..., ProbeProcess]) -> None:
    """Ending what has ended says how it ended."""
    process = start()
    until(process, lambda state: state.ok > 0)
    assert process.stop(20) == 0
    assert process.stop(1) == 0
    assert process.kill() == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_kill_at_any_moment_leaves_a_prefix(start: Callable[..., ProbeProcess], tmp_path: Path, seed: int) -> None:
    """After SIGKILL: no end marker, no gap in what was acknowledged in order, and 100 ms lost at most."""
    process = start()
    until(process, lambda state: state.ok > 100)
    time.sleep(random.Random(seed).uniform(0, 0.3))  # noqa: S311 - a moment, no secret
    killed = time.monotonic_ns()
    assert process.kill() == -signal.SIGKILL
    assert process.state().exit_status == -signal.SIGKILL
    rows = read_live(tmp_path / "writer-0" / "sends.arrows").table.to_pylist()
    latest = max(row["completed"] for row in rows)
    assert killed - latest < 0.12e9, "100 ms, and the time that an acknowledgement takes"
    assert len({row["seq"] for row in rows}) == len(rows)
    assert max(row["seq"] for row in rows) - len(rows) < 100, "only what was in flight is missing below the last one"
    assert not (tmp_path / "writer-0" / "ends.arrows").exists()


def test_its_state_file_and_command_line_hold_no_secret(
    start: Callable[..., ProbeProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret reaches librdkafka and appears in nothing that others can read."""
    monkeypatch.setenv("SASL_PASSWORD", "hunter2")
    process = start(**{"sasl.password": {"env": "SASL_PASSWORD"}, "sasl.username": "me"})
    until(process, lambda state: state.ok > 0)
    assert b"hunter2" not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    process.stop(20)
    for file in (tmp_path / "writer-0").iterdir():
        assert b"hunter2" not in file.read_bytes(), file


def test_why_it_died_is_told(start: Callable[..., ProbeProcess]) -> None:
    """A process that cannot start says so in its last words, and its exit status is that of the error."""
    process = start(**{"sasl.password": {"env": "NO_SUCH_VARIABLE"}})
    state = until(process, lambda state: not state.running)
    assert state.exit_status == 69
    assert "NO_SUCH_VARIABLE is not set" in process.last_words()


def test_it_says_where_it_is_and_goes_on(start: Callable[..., ProbeProcess]) -> None:
    """SIGUSR2 has the place of each thread written to its log, and ends nothing."""
    process = start()
    before = until(process, lambda state: state.ok > 0).ok
    os.kill(process.pid, signal.SIGUSR2)
    until(process, lambda state: state.ok > before + 300)
    where = process.log.read_text(encoding="utf-8")
    assert "most recent call first" in where
    assert "produce.py" in where
    assert process.stop(20) == 0


def test_a_frozen_one_says_nothing_and_goes_on_where_it_was(start: Callable[..., ProbeProcess]) -> None:
    """SIGSTOP and SIGCONT: frozen is what the system says of it, and afterwards it catches up with its schedule."""
    process = start()
    until(process, lambda state: state.ok > 100)
    process.freeze()
    until(process, lambda state: state.frozen)
    time.sleep(0.3)  # what it had said before is heard
    before = process.state().ok
    time.sleep(1)
    assert process.state().ok == before
    process.thaw()
    until(process, lambda state: not state.frozen and state.ok > before + 1000)
    assert process.stop(20) == 0


def test_a_frozen_one_can_be_ended(start: Callable[..., ProbeProcess]) -> None:
    """A clean end wakes it first; it need not be killed."""
    process = start()
    until(process, lambda state: state.ok > 0)
    process.freeze()
    assert process.stop(20) == 0
    process.thaw()
    assert not process.frozen()


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    """The spec needs a place; the error names it."""
    (tmp_path / "writer-0").write_text("in the way")
    with pytest.raises(EventLogError, match=r"writer-0/spec\.json: cannot write it"):
        ProbeProcess(spec(tmp_path))


def test_ctrl_c_at_the_terminal_does_not_reach_it(start: Callable[..., ProbeProcess]) -> None:
    """It has a session of its own, and ignores SIGINT besides."""
    process = start()
    until(process, lambda state: state.ok > 0)
    assert os.getsid(process.pid) == process.pid
    os.kill(process.pid, signal.SIGINT)
    before = process.state().ok
    until(process, lambda state: state.ok > before + 300)


def test_a_reader_that_does_not_read_costs_it_nothing(tmp_path: Path) -> None:
    """Its stdout may be full for as long as it likes: the schedule goes on."""
    path = tmp_path / "writer-0" / "spec.json"
    path.parent.mkdir()
    path.write_text(spec(tmp_path).model_dump_json())
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    filled = fill(writing)
    assert filled > 0
    with subprocess.Popen(
        [sys.executable, "-m", "chaosk.probes.worker", str(path)],
        stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        os.close(writing)
        deadline = time.monotonic() + 30
        while not (path.parent / "sends.arrows").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        process.terminate()
        assert process.wait(20) == 0
    os.close(reading)
    assert len(sends(tmp_path)) > 800


def fill(pipe: int) -> int:
    """Write into a pipe until it takes no more."""
    total = 0
    while True:
        try:
            total += os.write(pipe, bytes(4096))
        except BlockingIOError:
            return total


PARENT = """
import sys, threading, time
from pathlib import Path
from chaosk.rundir.events.writer_reports import writer_of
from chaosk.probes.worker.process import ProbeProcess
from chaosk.probes.worker.spec import WorkerSpec
spec = WorkerSpec.model_validate_json(Path(sys.argv[1]).read_text())
started = []
thread = threading.Thread(target=lambda: started.append(ProbeProcess(spec)))
thread.start()
thread.join()
print(started[0].pid, flush=True)
time.sleep(60)
"""


@contextmanager
def killed_parent(folder: Path) -> Iterator[int]:
    """The pid of a probe at work, whose parent is killed at the end of the block; then the probe has to end."""
    path = folder / "parent.json"
    path.write_text(spec(folder).model_dump_json())
    with subprocess.Popen([sys.executable, "-c", PARENT, str(path)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        deadline = time.monotonic() + 30
        while not (folder / "writer-0" / "sends.arrows").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield child
        parent.kill()
    deadline = time.monotonic() + 20
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(child)


def test_the_kernel_wakes_a_frozen_one_whose_parent_is_killed(tmp_path: Path) -> None:
    """Nobody is left to let it go on: it wakes, finds that it is an orphan, and ends cleanly."""
    with killed_parent(tmp_path) as child:
        os.kill(child, signal.SIGSTOP)
        time.sleep(0.2)
    assert (tmp_path / "writer-0" / "ends.arrows").exists()


def test_it_outlives_the_thread_that_started_it_and_not_the_process(tmp_path: Path) -> None:
    """The end of the starting thread is not the end of the parent; a SIGKILL of the parent ends it, cleanly."""
    with killed_parent(tmp_path) as child:
        time.sleep(0.5)
        assert alive(child), "it runs on after the thread that started it ended"
    assert (tmp_path / "writer-0" / "ends.arrows").exists(), "it wrote all it knew"
    assert sorted(sends(tmp_path)) == list(range(len(sends(tmp_path))))


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
