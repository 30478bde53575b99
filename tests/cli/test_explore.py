"""``chaosk explore`` from its command line to its files. The cluster is made up; a real one is in tests/explore."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sample_documents import written
from sample_explore import SPACE, Cluster, Judge, inconclusive, missed, passed, steps, violated
from sample_gate import unreachable

from chaosk.campaign.explore.record import Exploration, load
from chaosk.campaign.gate import child
from chaosk.campaign.gate.child import Ended
from chaosk.cli.main import main
from chaosk.core.errors import ExitCode
from chaosk.document import load_scenario
from chaosk.run.standby import VARIABLE
from chaosk.rundir.verdict import Verdict
from chaosk.spec.scenario import Scenario

pytestmark = pytest.mark.long


def kill_fails(scenario: Scenario) -> Verdict:
    """A cluster that loses records whenever a broker is killed."""
    return missed() if "kill_broker" in steps(scenario) else passed()


class Explored:
    """Runs the command in a folder of its own, on a cluster that is made up."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.output, self.space = folder / "out", written(folder, SPACE, "space.yaml")
        self.cluster = Cluster(folder, lambda scenario: passed())
        self.before: Callable[[], int | None] = lambda: None
        patch.setattr(child, "run", self._run)

    def __call__(self, *words: object, judge: Judge | None = None) -> int:
        """Its exit code."""
        if judge is not None:
            self.cluster.judge = judge
        where = () if "--continue" in words else (self.space, "--output", self.output)
        return main(["explore", *map(str, (*where, *words))])

    @property
    def folder(self) -> Path:
        """The one exploration."""
        (found,) = self.output.iterdir()
        return found

    @property
    def told(self) -> Exploration:
        """What was written down."""
        return load(self.folder)

    def _run(self, words: Sequence[str], stop: threading.Event, again: threading.Event) -> Ended:
        assert words[1:5] == ["-m", "chaosk", "run", "--lifeline"]
        options = dict(zip(words[6::2], words[7::2], strict=True))
        if (code := self.before()) is not None:
            return Ended(code, 60.0, "")
        return self.cluster.carried_out(Path(words[5]), Path(options["--output"]), int(options["--seed"]))


@pytest.fixture
def explored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Explored:
    """The command, in a folder of its own; nothing is judged, so nobody has to stand by."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nobody"))
    return Explored(tmp_path, monkeypatch)


def test_its_runs_are_judged_by_one_analysis(explored: Explored, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run finds the same one standing by, and it is gone when the exploration is over."""
    monkeypatch.delenv(VARIABLE, raising=False)
    seen: list[tuple[Path, bool]] = []

    def look() -> None:
        path = Path(os.environ[VARIABLE])
        seen.append((path, path.is_socket()))

    explored.before = look
    assert explored("--rounds", 3) == ExitCode.PASS
    assert len(seen) == 3
    assert seen == [(seen[0][0], True)] * 3
    assert not seen[0][0].exists()
    assert VARIABLE not in os.environ
    assert (explored.folder / "analysis.log").read_text("utf-8") == ""


def test_it_finds_and_makes_smaller(explored: Explored, capsys: pytest.CaptureFixture[str]) -> None:
    """Rounds until one fails, then less and less of it; what is left runs again as a scenario of its own."""
    assert explored("--seed", 7, judge=kill_fails) == ExitCode.FAIL
    told = explored.told
    rounds = told.of("round")
    assert [one.number for one in rounds] == list(range(1, len(rounds) + 1))
    assert ["kill_broker" in one.steps for one in rounds] == [False] * (len(rounds) - 1) + [True]
    assert told.found is not None
    assert told.found.breaches == ("lost_records",)
    small = load_scenario(explored.folder / "smallest.yaml")
    assert steps(small) == ["kill_broker"]
    assert small.timeline[0].lasts == 1.0
    found = load_scenario(explored.folder / "found.yaml")
    assert steps(found) == list(rounds[-1].steps)
    head = (explored.folder / "smallest.yaml").read_text("utf-8").splitlines()[:5]
    assert f"in round {len(rounds)} of seed 7: lost_records." in head[0]
    assert "lost records were 4" in head[1]
    assert (explored.folder / head[2].removeprefix("# That run: ")).is_dir()
    assert f"from {len(told.found.sequence)} faults to 1, by {len(told.of('smaller'))} runs" in head[3]
    shown = capsys.readouterr().out
    again = f"again: chaosk run {explored.folder / 'smallest.yaml'} --seed {rounds[-1].seed}"
    assert again in shown
    assert shown.splitlines()[-1] == f"report: {explored.folder / 'explore.md'}"
    report = (explored.folder / "explore.md").read_text("utf-8")
    assert report.startswith(f"## ✕ FOUND — lost records in round {len(rounds)} of seed 7")
    assert again.removeprefix("again: ") in report


def test_the_runs_are_those_of_the_draws(explored: Explored, capsys: pytest.CaptureFixture[str]) -> None:
    """What --draw prints is what is run, to the seed: nothing is drawn that is not shown, and the other way round."""
    assert explored("--seed", 5, "--draw", "--rounds", 3) == ExitCode.PASS
    shown = capsys.readouterr().out.split("# Round")[1:]
    assert not explored.output.exists()
    assert explored("--seed", 5, "--rounds", 3) == ExitCode.PASS
    for number, text in enumerate(shown, 1):
        one = written(explored.space.parent, f"# Round{text}", "shown.yaml")
        assert load_scenario(one) == explored.cluster.ran[number - 1]
        assert f"--seed {explored.cluster.seeds[number - 1]}\n" in text
    assert explored("--seed", 5, "--draw", "--first", 3) == ExitCode.PASS
    assert capsys.readouterr().out.split("# Round")[-1] == shown[2]


def test_nothing_found_is_a_pass(explored: Explored, capsys: pytest.CaptureFixture[str]) -> None:
    """It ends with its time: what the runs took is counted, and no round begins after it."""
    assert explored("--seed", 5, "--for", "4m") == ExitCode.PASS
    assert len(explored.told.trials) == 4
    assert "NOTHING FOUND — 4 rounds of seed 5, the evidence of 4 carries" in capsys.readouterr().out
    assert {one.name for one in explored.folder.iterdir()} == {"explore.json", "explore.md", "runs", "sequences"}


def test_one_round_that_carries_is_enough(explored: Explored) -> None:
    """Of three two are inconclusive; where all are, so is the whole."""
    verdicts = iter([inconclusive(), passed(), inconclusive()])
    assert explored("--seed", 5, "--rounds", 3, judge=lambda scenario: next(verdicts)) == ExitCode.PASS
    assert "the evidence of 1 carries" in (explored.folder / "explore.md").read_text("utf-8")


def test_no_evidence_is_no_pass(explored: Explored) -> None:
    """Every round is inconclusive."""
    assert explored("--rounds", 2, judge=lambda scenario: inconclusive()) == ExitCode.INCONCLUSIVE


def test_the_same_kind_of_failure_is_asked_of_what_is_smaller(explored: Explored) -> None:
    """A kill alone is slow, with a cut as well it loses: what is slow only is not taken for the loss."""

    def judge(scenario: Scenario) -> Verdict:
        if {"kill_broker", "cut_network"} <= set(steps(scenario)):
            return violated("lost", "stale_append")
        slow = "smaller" in scenario.name and "kill_broker" in steps(scenario)
        return missed("unavailability") if slow else passed()

    assert explored("--seed", 2, judge=judge) == ExitCode.FAIL
    assert sorted(steps(load_scenario(explored.folder / "smallest.yaml"))) == ["cut_network", "kill_broker"]
    assert {one.breaches for one in explored.told.of("smaller")} >= {("unavailability",), ("lost_records",)}


def test_what_fails_only_now_and_then(explored: Explored) -> None:
    """Every second run of a killed broker shows it: a smaller sequence is tried twice before it is given up."""
    kills = []

    def judge(scenario: Scenario) -> Verdict:
        if "kill_broker" not in steps(scenario):
            return passed()
        kills.append(scenario)
        return missed() if len(kills) % 2 else passed()

    assert explored("--seed", 7, judge=judge) == ExitCode.FAIL
    assert steps(load_scenario(explored.folder / "smallest.yaml")) == ["kill_broker"]
    assert {one.attempt.repeat for one in explored.told.of("smaller")} == {1, 2}


def test_what_fails_without_any_fault(explored: Explored) -> None:
    """No fault is to blame, and none is left."""
    assert explored("--seed", 7, judge=lambda scenario: missed()) == ExitCode.FAIL
    small = load_scenario(explored.folder / "smallest.yaml")
    assert [one.name for one in small.timeline] == ["whole"]


def test_as_it_was_drawn(explored: Explored, capsys: pytest.CaptureFixture[str]) -> None:
    """Without shrinking nothing more is run, and what was found is what is to be run again."""
    assert explored("--seed", 7, "--no-shrink", judge=kill_fails) == ExitCode.FAIL
    assert explored.told.of("smaller") == ()
    assert not (explored.folder / "smallest.yaml").exists()
    assert f"again: chaosk run {explored.folder / 'found.yaml'}" in capsys.readouterr().out


def test_the_time_for_smaller_sequences_ends(explored: Explored, capsys: pytest.CaptureFixture[str]) -> None:
    """What was reached by then is kept; there is nothing to go on with."""
    assert explored("--seed", 7, "--shrink-for", "2m", judge=kill_fails) == ExitCode.FAIL
    assert len(explored.told.of("smaller")) == 2
    assert (explored.folder / "smallest.yaml").exists()
    assert "go on with" not in capsys.readouterr().out
    assert explored("--continue", explored.folder) == ExitCode.USAGE
    assert "has run all it was to run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "ends", "runs", "says"),
    [
        (3, ExitCode.NOT_HEALED, 1, "left the cluster unhealed"),
        (70, ExitCode.INTERNAL, 1, "healing was not confirmed"),
        (-9, ExitCode.INTERNAL, 1, "healing was not confirmed"),
        (69, ExitCode.PREFLIGHT, 3, "3 runs in a row did not begin, the last one because: ended with 69"),
        (64, ExitCode.USAGE, 3, "3 runs in a row did not begin"),
    ],
)
def test_what_ends_it_at_once(explored: Explored, code: int, ends: ExitCode, runs: int, says: str) -> None:
    """No fault is put on top of another one's remains, and nothing is begun again and again that cannot begin."""
    assert explored(judge=lambda scenario: code) == ends
    assert len(explored.told.trials) == runs
    assert says in (explored.told.why_ended or "")


def test_a_cluster_that_is_not_healed_ends_the_shrinking_too(explored: Explored) -> None:
    """Whatever was found: the exit code says first what has to be done first."""
    unhealed = missed().model_copy(update={"healed": False})
    first = iter([True])

    def judge(scenario: Scenario) -> Verdict:
        told = kill_fails(scenario)
        return told if told == passed() or next(first, False) else unhealed

    assert explored("--seed", 7, judge=judge) == ExitCode.NOT_HEALED
    assert explored.told.of("smaller")[-1].attempt.exit_code == ExitCode.NOT_HEALED
    assert (explored.folder / "found.yaml").exists()


def interrupting(explored: Explored, after: int) -> Callable[[], int | None]:
    """Ctrl-C comes while a run is under way, which ends and heals by it."""
    left = iter([None] * after)

    def before() -> int | None:
        if next(left, "none") is None:
            return None
        os.kill(os.getpid(), signal.SIGINT)
        explored.before = lambda: None
        return ExitCode.INTERRUPTED

    return before


@pytest.mark.parametrize("after", [1, 6])
def test_interrupted_and_continued(
    explored: Explored, tmp_path: Path, capsys: pytest.CaptureFixture[str], after: int
) -> None:
    """In a round, and while what was found is made smaller: what was done is not done again."""
    seed = 9
    assert explored("--seed", seed, judge=kill_fails) == ExitCode.FAIL
    whole = [(one.part, one.number, one.sequence) for one in explored.told.trials]
    assert explored.told.of("round")[1:], "the seed of this test has to take more than one round"
    assert len(whole) > 7
    explored.output = tmp_path / "other"
    explored.before = interrupting(explored, after)
    assert explored("--seed", seed) == ExitCode.INTERRUPTED
    assert f"go on with: chaosk explore --continue {explored.folder}" in capsys.readouterr().out
    assert [one.attempt.state for one in explored.told.trials] == ["done"] * after + ["broken off"]
    runs = len(explored.cluster.ran)
    assert explored("--continue", explored.folder) == ExitCode.FAIL
    assert [(one.part, one.number, one.sequence) for one in explored.told.trials] == whole
    assert len(explored.cluster.ran) - runs == len(whole) - after
    assert "FOUND" in capsys.readouterr().out


def test_the_seed_of_the_space(explored: Explored) -> None:
    """It is that of the file, unless the command line has one; without either, one is drawn and told."""
    explored.space.write_text(SPACE.replace("  gap:", "  seed: 99\n  gap:"), "utf-8")
    assert explored("--rounds", 1) == ExitCode.PASS
    assert explored.told.seed == 99


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What is said of a command that is refused."""
    assert main(["explore", *map(str, words)]) == ExitCode.USAGE
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "name a space of sequences, like: chaosk explore scenarios/explore/acks1.yaml"),
        (("nowhere.yaml",), "nowhere.yaml:1:1: cannot be read"),
        (("SPACE", "--for", "15"), "'15' is not a duration"),
        (("SPACE", "--rounds", "0"), "Invalid value"),
        (("SPACE", "--inventory", "nowhere.yaml"), "nowhere.yaml:1:1: cannot be read"),
        (("SPACE", "--set", "less=1s"), "there is no variable 'less'"),
        (("SPACE", "--continue", "x"), "remove SPACE, --set and --draw"),
        (("--continue", "nowhere"), "nowhere: cannot read it: No such file or directory; name a folder or file that"),
    ],
)
def test_bad_input_is_one_clear_error(
    explored: Explored, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    """The documented exit code, what is wrong and what to do; nothing is run or left behind."""
    own = [explored.space if word == "SPACE" else word for word in words]
    more = [] if "--continue" in words else ["--output", explored.output]
    assert says in refused(capsys, *own, *more)
    assert not explored.output.exists()
    assert explored.cluster.ran == []


def test_a_space_that_changed_is_not_continued(explored: Explored, capsys: pytest.CaptureFixture[str]) -> None:
    """Its draws would be others; comments may change."""
    explored.before = interrupting(explored, 0)
    assert explored("--seed", 7) == ExitCode.INTERRUPTED
    explored.space.write_text(f"# said\n{SPACE}", "utf-8")
    explored.before = interrupting(explored, 0)
    assert explored("--continue", explored.folder) == ExitCode.INTERRUPTED
    explored.space.write_text(SPACE.replace("max: 9s", "max: 8s"), "utf-8")
    assert "space.yaml: has changed since the exploration was begun" in refused(capsys, "--continue", explored.folder)
    (explored.folder / "explore.json").write_text("{}", "utf-8")
    assert "is damaged, or was not written by `chaosk explore`" in refused(capsys, "--continue", explored.folder)


def test_a_cluster_that_does_not_answer(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Real runs, refused by their own preflight: three of them, then that is what it ends with."""
    space = written(tmp_path, SPACE.replace("name: A space\n", "name: A space\ncluster: {mode: kraft}\n"), "space.yaml")
    code = main(["explore", str(space), "--inventory", str(unreachable(tmp_path)), "--output", str(tmp_path / "out")])
    told = capfd.readouterr()
    assert code == ExitCode.PREFLIGHT, told
    (folder,) = (tmp_path / "out").iterdir()
    kept = json.loads((folder / "explore.json").read_text("utf-8"))
    assert [one["attempt"]["exit_code"] for one in kept["trials"]] == [69, 69, 69]
    assert "3 runs in a row did not begin" in told.out
