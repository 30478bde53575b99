"""``chaosk gate``: what is refused before anything is run. Real runs are in tests/release/on_lab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from sample_documents import SCENARIO
from sample_gate import attempt, gate, measured, unreachable

from chaosk.campaign.gate.choice import choose
from chaosk.campaign.gate.content import content
from chaosk.campaign.gate.record import NAME, Gate, load, save
from chaosk.cli import _gate_run
from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """One scenario, in a folder of its own."""
    folder = tmp_path / "scenarios"
    folder.mkdir()
    (folder / "kill.yaml").write_text(yaml.safe_dump(yaml.safe_load(SCENARIO) | {"name": "Kill"}), "utf-8")
    return folder


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What is said of a command that is refused; nothing is made."""
    assert main(["gate", *map(str, words)]) == ExitCode.USAGE
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "name scenarios, or a folder of them, like: chaosk gate scenarios/"),
        (("nowhere.yaml",), "nowhere.yaml"),
        (("FOLDER", "--only", "nightly"), "none of 1 scenarios has such a tag"),
        (("FOLDER", "--shard", "2/1"), "write the second of four as 2/4"),
        (("FOLDER", "--shard", "x"), "write the second of four as 2/4"),
        (("FOLDER", "--worse-by", "much"), "Invalid value"),
        (("FOLDER", "--figure", "recovry"), "no figure that can be compared; did you mean 'recovery'"),
        (("FOLDER", "--figure", "lost_records"), "no figure that can be compared"),
        (("FOLDER", "--inventory", "nowhere.yaml"), "nowhere.yaml"),
        (("FOLDER", "--side-by-side", "0"), "Invalid value"),
        (("FOLDER", "--side-by-side", "10"), "at most 9 labs on one machine"),
        (("FOLDER", "--side-by-side", "2", "--inventory", "nowhere.yaml"), "a cluster has one run at a time"),
        (("FOLDER", "--baseline", "nowhere"), "nowhere: cannot read it"),
        (("FOLDER", "--set", "paws=1"), "none of the scenarios has a variable of that name"),
        (("--continue", "nowhere"), "nowhere: cannot read it"),
    ],
)
def test_bad_input_is_one_clear_error(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    """The documented exit code, what is wrong and what to do; no folder is left behind."""
    told = refused(
        capsys, *(str(scenario) if word == "FOLDER" else word for word in words), "--output", tmp_path / "out"
    )
    assert says in told
    assert not (tmp_path / "out").exists()


def test_those_of_one_lab_are_run_next_to_each_other(scenario: Path, tmp_path: Path) -> None:
    """In the order in which labs are first needed, repeats as well; on a cluster of one's own as the files are."""
    for name, brokers in (("b", 5), ("c", 3), ("d", 5)):
        told = yaml.safe_load(SCENARIO) | {"name": name, "cluster": {"brokers": brokers}}
        (scenario / f"{name}.yaml").write_text(yaml.safe_dump(told), "utf-8")
    every = choose([scenario], {}, (), (1, 1))
    on_labs = _gate_run.begun(every, (), repeat=2).attempts
    assert [one.scenario for one in on_labs] == ["b", "b", "d", "d", "c", "c", "Kill", "Kill"]
    assert [one.lab for one in on_labs] == ["lab-5-3"] * 4 + ["lab"] * 4
    on_its_own = _gate_run.begun(every, (unreachable(tmp_path),)).attempts
    assert [(one.scenario, one.lab) for one in on_its_own] == [(name, None) for name in ("b", "c", "d", "Kill")]


def baseline(folder: Path, scenario: Path, count: int) -> Path:
    """A former gate with that many runs of the scenario."""
    (chosen,) = choose([scenario], {}, (), (1, 1))
    runs = measured(tuple(float(value) for value in range(10, 10 + count)), digest=chosen.scenario.digest)
    folder.mkdir()
    save(folder, gate(*runs))
    return folder


def test_a_comparison_that_could_not_end_is_refused_first(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too few runs of either side, or none of these scenarios: known before hours are spent on it."""
    few, enough = baseline(tmp_path / "few", scenario, 2), baseline(tmp_path / "enough", scenario, 5)
    assert "has 2 runs of a scenario, and it takes 3" in refused(capsys, scenario, "--baseline", few, "--repeat", 9)
    told = refused(capsys, scenario, "--baseline", enough, "--repeat", 2)
    assert (
        "--repeat 2: too few runs to tell anything from chance: 1 scenarios with 2 figures each, against 5 runs" in told
    )
    assert "take --repeat 3; or compare fewer" in told
    (tmp_path / "other").mkdir()
    save(tmp_path / "other", gate(attempt("Other")))
    assert "has figures of none of these scenarios" in refused(capsys, scenario, "--baseline", tmp_path / "other")


def test_a_baseline_of_runs_alone_is_none_for_runs_side_by_side(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Known before hours are spent on it; with as many side by side it would be compared."""
    words = ("--baseline", baseline(tmp_path / "alone", scenario, 5), "--repeat", 2)
    told = refused(capsys, scenario, *words, "--side-by-side", 2)
    assert "the baseline's runs were made one at a time, these 2 side by side" in told
    assert "give --side-by-side 1, or make another baseline" in told
    assert "too few runs" in refused(capsys, scenario, *words, "--side-by-side", 1)


def begun(folder: Path, scenario: Path) -> Gate:
    """A gate that has run nothing of its one scenario yet."""
    (chosen,) = choose([scenario], {}, (), (1, 1))
    told = gate(attempt(exit_code=None, file=str(chosen.path), digest=chosen.scenario.digest))
    folder.mkdir()
    save(folder, told)
    return told


def test_a_gate_that_is_done_is_not_continued(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor one whose scenarios are others by now, or together with others."""
    begun(tmp_path / "begun", scenario)
    assert "leave the others out" in refused(capsys, scenario, "--continue", tmp_path / "begun")
    changed = yaml.safe_load((scenario / "kill.yaml").read_text("utf-8")) | {"settle": "33s"}
    (scenario / "kill.yaml").write_text(yaml.safe_dump(changed), "utf-8")
    assert "kill.yaml: has changed since the gate was begun" in refused(capsys, "--continue", tmp_path / "begun")
    (tmp_path / "done").mkdir()
    save(tmp_path / "done", gate(attempt()))
    assert "has run all it was to run" in refused(capsys, "--continue", tmp_path / "done")


def test_a_cluster_that_does_not_answer(scenario: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The run is refused by its own preflight: the gate ends with that, has its reports, and can be continued."""
    code = main(
        [
            "gate",
            str(scenario),
            "--inventory",
            str(unreachable(tmp_path)),
            "--output",
            str(tmp_path / "out"),
            "--repeat",
            "2",
        ]
    )
    told = capfd.readouterr()
    assert code == ExitCode.PREFLIGHT, told
    (folder,) = (tmp_path / "out").iterdir()
    found = load(folder)
    assert [(one.state, one.exit_code) for one in found.attempts] == [("done", 69), ("not run", None)]
    assert found.attempts[0].said in told.err
    assert found.attempts[0].said
    assert f"go on with: chaosk gate --continue {folder}" in told.out
    assert told.out.splitlines()[-1] == f"report: {folder / 'gate.html'}"
    assert {each.name for each in folder.iterdir()} >= {NAME, "gate.html", "gate.md", "junit.xml"}
    assert json.loads((folder / NAME).read_text("utf-8"))["why_ended"].startswith("Kill did not pass")


def test_two_clusters_that_do_not_answer(scenario: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each is asked before the refusal counts; every line says whose it is."""
    (tmp_path / "other").mkdir()
    clusters = [unreachable(tmp_path), unreachable(tmp_path / "other", port=5)]
    words = [word for each in clusters for word in ("--inventory", str(each))]
    code = main(["gate", str(scenario), *words, "--output", str(tmp_path / "out"), "--repeat", "2"])
    told = capfd.readouterr()
    assert code == ExitCode.PREFLIGHT, told
    (folder,) = (tmp_path / "out").iterdir()
    found = load(folder)
    assert (found.clusters, found.side_by_side) == (tuple(map(str, clusters)), 2)
    assert {one.exit_code for one in found.attempts} <= {69, None}
    assert found.attempts[0].lane in {1, 2}
    assert "was refused; another cluster is asked" in told.out
    assert {line[:4] for line in told.err.splitlines()} == {"[1] ", "[2] "}
    assert dict(content(found).facts)["side by side"].startswith("2 runs at a time")
