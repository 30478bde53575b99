"""The probes of a run: started, ended and killed by name, and an account of every one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import pytest

from chaosk.core.errors import StepError
from chaosk.probes.worker.process import ProbeProcess
from chaosk.run.clock import now
from chaosk.run.probe_supervisor import ProbeSupervisor
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.step import Signal


@dataclass
class Process:
    """A probe's process that does as it is told."""

    probe: str
    status: int | None = None
    ok: int = 0
    asked: list[str] = field(default_factory=list)

    def state(self) -> ProbeState:
        """Running until it has a status."""
        return ProbeState(
            probe=self.probe, kind="produce", running=self.status is None, ok=self.ok, exit_status=self.status
        )

    def stop(self, timeout: float) -> int:
        """A clean end."""
        assert timeout > 10, "a producer must be given the time to flush"
        self.asked.append("stop")
        self.status = 0
        return 0

    def kill(self) -> int:
        """SIGKILL."""
        self.asked.append("kill")
        self.status = -9
        return -9

    def freeze(self) -> None:
        """SIGSTOP."""
        self.asked.append("freeze")

    def thaw(self) -> None:
        """SIGCONT."""
        self.asked.append("thaw")

    def last_words(self) -> str:
        """What it said last."""
        return "its last words"


@dataclass
class Yard:
    """Launches processes and keeps them."""

    processes: dict[tuple[str, int], Process] = field(default_factory=dict)

    def launch(self, probe: str, incarnation: int) -> ProbeProcess:
        """Make one."""
        self.processes[probe, incarnation] = Process(probe)
        return cast("ProbeProcess", self.processes[probe, incarnation])


@pytest.fixture
def yard() -> Yard:
    """Where processes come from."""
    return Yard()


@pytest.fixture
def crew(yard: Yard) -> ProbeSupervisor:
    """A writer and a reader, running."""
    crew = ProbeSupervisor(yard.launch)
    crew.start("writer")
    crew.start("reader")
    return crew


def accounts(crew: ProbeSupervisor) -> list[tuple[str, int, str, int | None]]:
    """Probe, incarnation, by whom, status of every end."""
    return [(end.probe, end.incarnation, end.ended_by, end.exit_status) for end in crew.ends()]


def test_the_end_of_the_run_ends_everybody_cleanly(crew: ProbeSupervisor, yard: Yard) -> None:
    """Each is asked once, and is accounted for."""
    crew.end_all(("writer",))
    crew.end_all(("writer", "reader"))
    assert accounts(crew) == [("reader", 0, "stop", 0), ("writer", 0, "stop", 0)]
    assert yard.processes["writer", 0].asked == ["stop"]


def test_a_step_that_kills_and_starts_makes_a_new_incarnation(crew: ProbeSupervisor, yard: Yard) -> None:
    """The killed process is a step's doing, not a defect; the next one has the next number."""
    crew.signal(Signal(probe="reader", action="kill"))
    crew.signal(Signal(probe="reader", action="start"))
    assert yard.processes["reader", 0].asked == ["kill"]
    assert ("reader", 1) in yard.processes
    assert accounts(crew) == [("reader", 0, "step", -9)]
    assert crew.state("reader").running


def test_who_is_told_to_end_is_timed_until_it_is_gone(crew: ProbeSupervisor, yard: Yard) -> None:
    """By a step and at the run's end; who is killed or dies closes nothing."""
    before = now()
    crew.signal(Signal(probe="reader", action="stop"))
    crew.signal(Signal(probe="reader", action="start"))
    crew.signal(Signal(probe="reader", action="kill"))
    yard.processes["writer", 0].status = 70
    stopped, killed, died = crew.ends()
    assert stopped.told is not None
    assert stopped.gone is not None
    assert before <= stopped.told <= stopped.gone <= now()
    assert (killed.told, killed.gone, died.told, died.gone) == (None, None, None, None)


def test_a_pause_ends_nothing(crew: ProbeSupervisor, yard: Yard) -> None:
    """The process is frozen and let go on; it is the same incarnation, and there is no end to account for."""
    crew.signal(Signal(probe="reader", action="pause"))
    crew.signal(Signal(probe="reader", action="resume"))
    assert yard.processes["reader", 0].asked == ["freeze", "thaw"]
    assert accounts(crew) == []


def test_a_probe_that_dies_is_noticed_with_its_last_words(crew: ProbeSupervisor, yard: Yard) -> None:
    """Nobody asked it to end: that is what makes a verdict inconclusive."""
    yard.processes["writer", 0].status = 70
    assert crew.dead() == ("writer",)
    (end,) = crew.ends()
    assert (end.ended_by, end.exit_status, end.last_words) == ("itself", 70, "its last words")


def test_a_probe_that_died_can_be_started_again_and_its_death_stays_on_record(
    crew: ProbeSupervisor, yard: Yard
) -> None:
    """A restart must not hide the crash before it."""
    yard.processes["writer", 0].status = -11
    crew.start("writer")
    assert accounts(crew) == [("writer", 0, "itself", -11)]


def test_what_runs_is_not_started_twice(crew: ProbeSupervisor, yard: Yard) -> None:
    """The undo of a kill may come after a step has started the probe: two processes would write one history."""
    crew.signal(Signal(probe="writer", action="start"))
    assert sorted(yard.processes) == [("reader", 0), ("writer", 0)]


@pytest.mark.parametrize("action", ["stop", "kill"])
def test_a_step_cannot_end_what_does_not_run(crew: ProbeSupervisor, yard: Yard, action: str) -> None:
    """A fault without a target did not take."""
    yard.processes["writer", 0].status = 0
    with pytest.raises(StepError, match="does not run"):
        crew.signal(Signal.model_validate({"probe": "writer", "action": action}))


def test_a_broken_off_run_leaves_no_process(crew: ProbeSupervisor, yard: Yard) -> None:
    """Whatever runs is killed, and said to have been."""
    crew.end("writer")
    crew.abandon()
    assert [process.asked for process in yard.processes.values()] == [["stop"], ["kill"]]
    assert accounts(crew) == [("reader", 0, "abort", -9), ("writer", 0, "stop", 0)]


def test_an_unknown_probe_is_an_error(crew: ProbeSupervisor) -> None:
    """The message names it."""
    with pytest.raises(StepError, match="auditor: there is no such probe"):
        crew.state("auditor")


def test_a_probe_that_a_step_is_to_start_waits_until_then(yard: Yard) -> None:
    """It is known and does not run; nobody misses it among those that work, and its first process is number 0."""
    crew = ProbeSupervisor(yard.launch, {"late": "consume"})
    assert crew.state("late") == ProbeState(probe="late", kind="consume", running=False, begun=False)
    assert (crew.states(), crew.dead(), crew.ends()) == ((), (), ())
    with pytest.raises(StepError, match="late: it has not been started"):
        crew.signal(Signal(probe="late", action="pause"))
    crew.signal(Signal(probe="late", action="start"))
    assert list(yard.processes) == [("late", 0)]
    assert crew.state("late").running
    crew.signal(Signal(probe="late", action="kill"))
    assert crew.state("late") == ProbeState(probe="late", kind="produce", running=False, exit_status=-9)


def test_a_probe_that_was_never_started_is_nobody_at_the_end(yard: Yard) -> None:
    """The timeline was broken off before its turn: there is nothing to end."""
    crew = ProbeSupervisor(yard.launch, {"late": "consume"})
    crew.end_all(("late",))
    crew.abandon()
    assert crew.ends() == ()
