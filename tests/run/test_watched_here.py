"""Faults on processes of this machine, watched by the lease's own script: all of it real but for SSH and Kafka."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_live import FakeLive, inventory

from chaosk.hosts.commands import service
from chaosk.hosts.localhost import HERE
from chaosk.hosts.transport.local import Local
from chaosk.run.executor import Executor
from chaosk.run.fault_progress import FaultProgress
from chaosk.run.faults import Faults
from chaosk.run.journal import Journal
from chaosk.run.leases import Leases
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, Operation, PreparedFault, Run, Signal
from chaosk.spec.inventory import ScriptService, ServerProcess
from chaosk.spec.scenario import Entry, steps

NEVER = threading.Event()
SERVER = "import signal; signal.pause()"
REMEDY = "mask the unit"


def _nobody(_: Operation | Signal) -> None:
    """Nobody is asked."""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server, running; whatever a test leaves of it is ended."""
    config, pid_file = tmp_path / "server.properties", tmp_path / "server.pid"
    begin = f'setsid "{sys.executable}" -c "{SERVER}" "$1" </dev/null >/dev/null 2>&1 & echo $! >"$2"'
    start = ("sh", "-c", begin, "sh", str(config), str(pid_file))
    made = ServerProcess(
        host="node1", service=ScriptService(start=start, stop=("true",), pid_file=str(pid_file)), config=str(config)
    )
    assert Local(tmp_path).run(here(service.start(made))).ok
    yield made
    for kind in (signal.SIGCONT, signal.SIGKILL):
        try:
            os.kill(pid(made), kind)
        except ProcessLookupError:
            return


def pid(process: ServerProcess) -> int:
    """Its id, or that of the last one."""
    assert isinstance(process.service, ScriptService)
    return int(Path(process.service.pid_file).read_text("utf-8"))


@pytest.fixture
def faults(tmp_path: Path) -> Faults:
    """The engine's own driver of faults; leases of three seconds, renewed every second."""
    (tmp_path / "undo").mkdir()
    local = Local(tmp_path / "kept")
    hands = Executor(inventory(), local, FakeLive(), _nobody, _nobody)
    return Faults(hands, Journal(tmp_path / "undo"), Leases(local, "run", "me", 3.0), lambda _: None)


def fault(process: ServerProcess, kind: str) -> tuple[PreparedFault, Entry]:
    """What kill_broker and pause_broker do, to that process."""
    killed = kind == "kill_broker"
    query = service.is_gone(process) if killed else service.is_frozen(process)
    fact = Fact(says="it is so", query=here(query), within=5.0, remedy=REMEDY)
    inject = (run(service.kill(process) if killed else service.signal(process, "STOP")),)
    undo = (run(service.resume(process)), run(service.start(process)))
    healed = (Fact(says="it runs", query=here(service.is_awake(process)), within=5.0),)
    made = PreparedFault(
        name="entry", step=kind, targets=(), before=(), inject=inject, verify=(fact,), undo=undo, healed=healed,
        watch=(fact,),
    )  # fmt: skip
    step = steps()[kind].model_validate({"target": "broker 0"})
    return made, Entry.model_construct(name="entry", kind=kind, step=step, lasts=None, when=None)


def here(command: Command) -> Command:
    """The same on this machine, by whoever runs the tests."""
    return command.model_copy(update={"host": HERE, "sudo": False})


def run(command: Command) -> Run:
    """A deed of it."""
    return Run(command=here(command))


def until(holds: Callable[[], object]) -> None:
    """Wait for it."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def looked(life: FaultProgress) -> int:
    """How often its host has found it in place, as far as was told."""
    return sum(look.by_host and look.holds is True for look in life.looks)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", ["kill_broker", "pause_broker"])
def test_what_nobody_touches_lasts(faults: Faults, process: ServerProcess, kind: str) -> None:
    """Seen by its host again and again, the same one each time; then it is undone."""
    life = faults.inject(*fault(process, kind), NEVER)
    until(lambda: looked(life) >= 3)
    faults.end(life)
    assert (life.took, life.why, life.undone) == (True, [], True)


@pytest.mark.timeout(180)
def test_a_process_that_was_started_and_killed_again(faults: Faults, process: ServerProcess, tmp_path: Path) -> None:
    """It is gone at both ends and at each look, and has been there in between."""
    life = faults.inject(*fault(process, "kill_broker"), NEVER)
    until(lambda: looked(life) >= 2)
    assert Local(tmp_path).run(here(service.start(process))).ok
    os.kill(pid(process), signal.SIGKILL)
    faults.end(life)
    assert not life.took
    assert "ended and came back between two looks: it is so (no process), but another one, for up to" in life.why[0]
    assert life.undone


@pytest.mark.timeout(180)
def test_a_process_that_was_awake_for_a_moment(faults: Faults, process: ServerProcess) -> None:
    """It has the state T at both ends and at each look, and its threads have run in between."""
    life = faults.inject(*fault(process, "pause_broker"), NEVER)
    until(lambda: looked(life) >= 2)
    os.kill(pid(process), signal.SIGCONT)
    os.kill(pid(process), signal.SIGSTOP)
    time.sleep(0.2)
    faults.end(life)
    assert not life.took
    assert "ended and came back between two looks: it is so (process" in life.why[0]
    assert life.undone


@pytest.mark.timeout(180)
def test_a_process_that_was_there_for_a_while(faults: Faults, process: ServerProcess, tmp_path: Path) -> None:
    """It is told while it is there, with who started it; then how long that was for, and what to do."""
    life = faults.inject(*fault(process, "kill_broker"), NEVER)
    until(lambda: looked(life) >= 1)
    assert Local(tmp_path).run(here(service.start(process))).ok
    until(lambda: life.told)
    seen = looked(life)
    os.kill(pid(process), signal.SIGKILL)
    until(lambda: looked(life) > seen)
    faults.end(life)
    assert not life.took
    assert "did not last: not seen: it is so (process" in life.why[0]
    assert " s ago by process " in life.why[0]
    assert "seen back" in life.why[0]
    assert f"; {REMEDY}" in life.why[0]  # a slow start is another hole, and counted behind it
    assert life.undone
