"""A run in which chaosk's machine stood still says nothing of the cluster: it is run again, and nothing else is."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import sample_run
from sample_documents import SCENARIO, written
from sample_gate import attempt, gate
from sample_inventory import INVENTORY

from chaosk.campaign.gate.child import Ended
from chaosk.campaign.gate.conduct import GateHooks, conduct
from chaosk.campaign.gate.content import content
from chaosk.campaign.gate.lanes import Lane
from chaosk.campaign.gate.record import Attempt, Gate, load
from chaosk.document import load_scenario
from chaosk.planning import plan
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Guard, Outcome
from chaosk.spec.inventory import Kafka

STILL = Guard(guard="clock_silent", what="nothing was written for 6.0 s: chaosk's machine stood still")
OTHER = Guard(guard="probe_died", what="the probe writer/0 ended by itself with 1")
ONE, TWO = attempt("A", exit_code=None), attempt("B", exit_code=None)


class Runs:
    """Each run leaves a run directory with the next of these verdicts, and ends with its code."""

    def __init__(self, folder: Path, *ends: tuple[int, tuple[Guard, ...]]) -> None:
        cluster = INVENTORY.model_copy(update={"kafka": Kafka(version="3.9.2")})
        self.folder, self.ends, self.ran, self.said = folder, list(ends), list[str](), list[str]()
        self._plan = plan.make(load_scenario(written(folder, SCENARIO)), cluster, "run-1", 1).to_json()

    def __call__(self, one: Attempt, lane: Lane) -> Ended:
        """The next one."""
        code, guards = self.ends.pop(0)
        root = self.folder / "runs" / one.key / "kill" / f"2026-{len(self.ran)}"
        self.ran.append(one.scenario)
        outcome = {0: Outcome.PASS, 1: Outcome.VIOLATION}.get(code, Outcome.INCONCLUSIVE)
        told = sample_run.verdict(verdict=outcome, found=outcome, guards=guards)
        sample_run.write_documents(RunDir(root), told, sample_run.Shape())
        (root / "plan.json").write_text(self._plan, "utf-8")
        return Ended(code, 60.0, "")

    def play(self, told: Gate) -> Gate:
        """What becomes of a gate, as it is on the disk."""
        conduct(told, self.folder, GateHooks(self, pytest.fail, self.said.append), threading.Event())
        return load(self.folder)


def test_it_is_run_again_and_the_second_run_counts(tmp_path: Path) -> None:
    """Before anything else, also where the gate was not to keep going; the first run's directory stays and is named."""
    runs = Runs(tmp_path, (2, (STILL,)), (0, ()), (0, ()))
    done = runs.play(gate(ONE, TWO, again=1))
    assert runs.ran == ["A", "A", "B"]
    assert [one.exit_code for one in done.attempts] == [0, 0]
    first, second = done.attempts
    assert (first.stood_still, first.again_after) == (False, ("runs/a-0123-1/kill/2026-0",))
    assert first.folder == "runs/a-0123-1/kill/2026-1"
    assert (tmp_path / first.again_after[0] / "verdict.json").is_file()
    assert second.again_after == ()
    assert [line for line in runs.said if "run again" in line] == [
        "A is run again: chaosk's machine stalled, so its result is inconclusive"
    ]
    told = content(done)
    assert told.headline == "PASS — 2 of 2 runs passed"
    assert "run 2 of it: chaosk's machine had stood still in that before" in told.runs[0].said


@pytest.mark.parametrize("name", ["probe_stood_still", "watcher_stood_still"])
def test_so_it_is_where_one_of_its_processes_stood_still(tmp_path: Path, name: str) -> None:
    """Given no processor by the machine that chaosk runs on: that says nothing of the cluster either."""
    runs = Runs(tmp_path, (2, (Guard(guard=name, what="writer stood still"),)), (0, ()))
    (one,) = runs.play(gate(ONE, again=1)).attempts
    assert (runs.ran, one.exit_code) == (["A", "A"], 0)


@pytest.mark.parametrize("times", [0, 1, 3])
def test_not_for_ever(tmp_path: Path, times: int) -> None:
    """As often as was asked for; then it counts as what it is, and the gate says that it says nothing."""
    runs = Runs(tmp_path, *[(2, (STILL, STILL))] * (times + 1))
    (one,) = runs.play(gate(ONE, again=times, keep_going=True)).attempts
    assert len(runs.ran) == times + 1
    assert (one.state, one.exit_code, one.stood_still, len(one.again_after)) == ("done", 2, True, times)
    assert content(load(tmp_path)).headline == (
        "INCONCLUSIVE — 0 of 1 runs passed; 1 says nothing, as chaosk's machine stood still"
    )


@pytest.mark.parametrize(
    ("code", "guards"), [(1, (STILL,)), (2, (STILL, OTHER)), (2, (OTHER,)), (2, ()), (3, (STILL,)), (130, (STILL,))]
)
def test_nothing_else_is_run_again(tmp_path: Path, code: int, guards: tuple[Guard, ...]) -> None:
    """Something is known to be wrong, or evidence is missing for another reason as well: that stands."""
    runs = Runs(tmp_path, (code, guards))
    (one,) = runs.play(gate(ONE, again=5)).attempts
    assert runs.ran == ["A"]
    assert (one.exit_code, one.stood_still, one.again_after) == (code, False, ())


def test_side_by_side_as_well(tmp_path: Path) -> None:
    """By whichever lane is free; the order of the report stays."""
    runs = Runs(tmp_path, (2, (STILL,)), (2, (STILL,)), (0, ()), (0, ()))
    lock = threading.Lock()

    def one_by_one(one: Attempt, lane: Lane) -> Ended:
        with lock:
            return runs(one, lane)

    hands = GateHooks(one_by_one, pytest.fail, runs.said.append)
    done = conduct(gate(ONE, TWO, again=1, side_by_side=2), tmp_path, hands, threading.Event())
    assert sorted(runs.ran) == ["A", "A", "B", "B"]
    assert [(one.scenario, one.exit_code, len(one.again_after)) for one in done.attempts] == [("A", 0, 1), ("B", 0, 1)]
