"""One attempt after the other: what is run, what is recorded when, and what ends it early."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_run
from sample_documents import SCENARIO, written
from sample_gate import attempt, gate
from sample_inventory import INVENTORY

from chaosk.campaign.gate.child import Ended
from chaosk.campaign.gate.conduct import GateHooks, conduct
from chaosk.campaign.gate.lanes import Lane
from chaosk.campaign.gate.record import Attempt, Gate, load
from chaosk.document import load_scenario
from chaosk.planning import plan
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome
from chaosk.spec.inventory import Kafka

THREE = (attempt("A", exit_code=None), attempt("B", exit_code=None), attempt("C", exit_code=None))


class Runs:
    """Ends runs with the codes that it is given, and remembers what was recorded when each began."""

    def __init__(self, folder: Path, *codes: int) -> None:
        self.folder, self.codes = folder, list(codes)
        self.ran: list[str] = []
        self.recorded: list[list[str]] = []

    def __call__(self, one: Attempt, lane: Lane) -> Ended:
        """The next one."""
        self.ran.append(one.scenario)
        self.recorded.append([each.state for each in load(self.folder).attempts])
        return Ended(self.codes.pop(0), 12.34, "the last that it said")


def play(folder: Path, told: Gate, runs: Callable[[Attempt, Lane], Ended], stop: threading.Event | None = None) -> Gate:
    """What becomes of a gate; what is on the disk is the same."""
    done = conduct(told, folder, GateHooks(runs, pytest.fail, lambda _line: None), stop or threading.Event())
    assert load(folder) == done
    return done


def states(told: Gate) -> list[tuple[str, int | None]]:
    """Of each attempt."""
    return [(one.state, one.exit_code) for one in told.attempts]


def test_all_are_run_in_order(tmp_path: Path) -> None:
    """Each is on the disk before the next begins; what it said last and how long it took are kept."""
    runs = Runs(tmp_path, 0, 0, 0)
    done = play(tmp_path, gate(*THREE), runs)
    assert runs.ran == ["A", "B", "C"]
    assert runs.recorded == [["not run"] * 3, ["done", "not run", "not run"], ["done", "done", "not run"]]
    assert done.why_ended is None
    assert (done.attempts[0].said, done.attempts[0].seconds) == ("the last that it said", 12.3)


@pytest.mark.parametrize("code", [1, 2, 64, 69, 70])
def test_the_first_that_does_not_pass_ends_it(tmp_path: Path, code: int) -> None:
    """The rest is not run, and the gate says why; unless it is to keep going."""
    done = play(tmp_path, gate(*THREE), Runs(tmp_path, 0, code))
    assert states(done) == [("done", 0), ("done", code), ("not run", None)]
    assert done.why_ended == "B did not pass, and it was not to keep going"
    on = play(tmp_path, gate(*THREE, keep_going=True), Runs(tmp_path, 0, code, 0))
    assert [state for state, _ in states(on)] == ["done"] * 3
    assert on.why_ended is None


def test_a_lab_is_left_before_another_one_is_needed(tmp_path: Path) -> None:
    """Not while a run is still to come on it, and the last one not at all; a cluster of one's own is no lab."""
    told = [
        attempt(name, exit_code=None, lab=lab) for name, lab in zip("ABCDE", ["x", "y", "x", None, "x"], strict=True)
    ]
    runs, left = Runs(tmp_path, *[0] * 5), list[tuple[str, int]]()
    hands = GateHooks(runs, lambda name: left.append((name, len(runs.ran))), lambda _line: None)
    conduct(gate(*told), tmp_path, hands, threading.Event())
    assert runs.ran == ["D", "A", "C", "E", "B"]
    assert left == [("x", 4)]


def test_an_unhealed_cluster_ends_it_whatever_was_asked(tmp_path: Path) -> None:
    """No fault is put on top of another one's remains."""
    done = play(tmp_path, gate(*THREE, keep_going=True), Runs(tmp_path, 3))
    assert states(done) == [("done", 3), ("not run", None), ("not run", None)]
    assert done.why_ended == "A left the cluster unhealed"


def test_the_last_one_leaves_nothing_unrun(tmp_path: Path) -> None:
    """It failed, and there is no rest to tell of."""
    assert play(tmp_path, gate(*THREE), Runs(tmp_path, 0, 0, 1)).why_ended is None


def test_an_interruption_ends_it_and_it_can_be_continued(tmp_path: Path) -> None:
    """What was broken off is run again, what was done is not."""
    broken = play(tmp_path, gate(*THREE), Runs(tmp_path, 0, 130))
    assert states(broken) == [("done", 0), ("broken off", 130), ("not run", None)]
    assert broken.why_ended == "it was interrupted"
    runs = Runs(tmp_path, 0, 0)
    done = play(tmp_path, load(tmp_path), runs)
    assert runs.ran == ["B", "C"]
    assert states(done) == [("done", 0)] * 3
    assert done.why_ended is None


def test_asked_to_stop_between_two_it_starts_no_other(tmp_path: Path) -> None:
    """The signal came while nothing ran."""
    stop = threading.Event()
    stop.set()
    done = play(tmp_path, gate(*THREE), Runs(tmp_path), stop)
    assert states(done) == [("not run", None)] * 3
    assert done.why_ended == "it was interrupted"


def judged(folder: Path, outcome: Outcome) -> Callable[[Attempt, Lane], Ended]:
    """Leaves a run directory with that verdict, of a cluster that is known."""
    cluster = INVENTORY.model_copy(update={"kafka": Kafka(version="3.9.2")})
    planned = plan.make(load_scenario(written(folder, SCENARIO)), cluster, "run-1", 1)

    def run(one: Attempt, lane: Lane) -> Ended:
        root = folder / "runs" / one.key / "kill" / "2026"
        told = sample_run.verdict(verdict=outcome, found=outcome)
        sample_run.write_documents(RunDir(root), told, sample_run.Shape())
        (root / "plan.json").write_text(planned.to_json(), "utf-8")
        return Ended(0, 60.0, "")

    return run


def test_what_a_run_directory_tells_is_kept(tmp_path: Path) -> None:
    """Verdict, headline, figures and cluster of the run that is there, so that gate.json can stand alone."""
    (kept,) = play(tmp_path, gate(THREE[0]), judged(tmp_path, Outcome.PASS)).attempts
    assert kept.verdict is Outcome.PASS
    assert kept.said.startswith("PASS — nothing wrong in")
    assert kept.folder == "runs/a-0123-1/kill/2026"
    assert (kept.cluster, kept.kafka) == ("3 brokers, 3 ZooKeeper nodes", "3.9.2")
    assert {one.metric: one.value for one in kept.figures}["unavailability"] == 11.02
    assert all(not one.subject and one.window == "run" for one in kept.figures)
    assert kept.measures == ()
    (open_one,) = play(tmp_path, gate(THREE[0]), judged(tmp_path, Outcome.INCONCLUSIVE)).attempts
    assert open_one.figures == ()


def test_of_a_variant_all_its_figures_are_kept(tmp_path: Path) -> None:
    """Of each subject and whatever its verdict: they are shown beside those of the others, under that verdict."""
    variant = attempt("A (x)", exit_code=None, file="/scenarios/a.yaml", variant="x")
    (kept,) = play(tmp_path, gate(variant), judged(tmp_path, Outcome.INCONCLUSIVE)).attempts
    assert kept.figures == ()
    assert {one.window for one in kept.measures} == {"run"}
    assert {one.subject for one in kept.measures} >= {"writer", "reader"}


def test_no_run_is_taken_for_another(tmp_path: Path) -> None:
    """Two files of one name, or two variants of a file, of which the second left nothing."""
    same = [attempt(name, exit_code=None, file=f"/{name}/kill.yaml", digest=name * 9) for name in "AB"]
    varied = [attempt(name, exit_code=None, file="/k.yaml", variant=name, digest=name * 9) for name in "CD"]
    leave, runs = judged(tmp_path, Outcome.PASS), Runs(tmp_path, 69, 69)
    told = gate(*same, *varied, keep_going=True)
    done = play(tmp_path, told, lambda one, lane: (leave if one.scenario in "AC" else runs)(one, lane))
    assert [one.verdict for one in done.attempts] == [Outcome.PASS, None, Outcome.PASS, None]
