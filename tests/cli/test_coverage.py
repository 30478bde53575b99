"""``chaosk coverage``: what it prints in each form, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from sample_documents import SCENARIO
from sample_history import run_of

from chaosk.cli.main import cli, main
from chaosk.core.errors import ExitCode

SHIPPED = Path(__file__).parents[2] / "scenarios"


@pytest.fixture
def scenarios(tmp_path: Path) -> Path:
    """A folder with one scenario."""
    folder = tmp_path / "scenarios"
    folder.mkdir()
    (folder / "one.yaml").write_text(SCENARIO, "utf-8")
    return folder


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A run of a killed leader that passed, one whose plan is not understood, and one that is not judged."""
    probes = {"writer": {"produce": {"topic": "orders"}}}
    kill = {"name": "kill", "kill_broker": {"target": "leader(orders, 0)"}}
    plan = {"name": "x", "hypothesis": "y", "topics": {"orders": {}}, "probes": probes, "timeline": [kill]}
    run_of(tmp_path / "reports" / "kill" / "one", plan={"scenario": plan})
    run_of(tmp_path / "reports" / "kill" / "strange", plan={"scenario": {**plan, "timeline": [{"shrink_mtu": {}}]}})
    run_of(tmp_path / "reports" / "kill" / "unfinished").verdict.unlink()
    return tmp_path / "reports"


def said(*words: object) -> Result:
    """What the command prints."""
    return CliRunner().invoke(cli, ["coverage", *map(str, words)], catch_exceptions=False)


def test_the_scenarios_that_come_with_chaosk() -> None:
    """Every fault has a row, killed leaders a number, and the list ends it."""
    told = said(SHIPPED)
    lines = [line.split() for line in told.stdout.splitlines()]
    kills = next(line for line in lines if line[:1] == ["kill"])
    assert int(kills[1]) >= 10
    assert "Never tried" in told.stdout
    assert told.exit_code == 0


def test_the_default_folder(scenarios: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scenarios/ of the working directory, with or without runs."""
    monkeypatch.chdir(scenarios.parent)
    assert json.loads(said("--json").stdout)["scenarios"] == 1


def test_runs_are_counted_and_the_others_named(scenarios: Path, reports: Path) -> None:
    """A cell has scenarios, runs and verdicts; what is passed over is on stderr."""
    told = said(scenarios, "--runs", reports)
    kills = next(line.split() for line in told.stdout.splitlines() if line.startswith("kill "))
    assert kills[1:5] == ["1", "/", "1", "✓1"]
    assert "Of 1 scenario and 1 run" in told.stdout
    assert "strange: its plan has a scenario that this chaosk does not understand" in told.stderr
    assert "unfinished: no verdict yet" in told.stderr


def test_runs_alone(reports: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where there is no folder of scenarios none is asked for."""
    monkeypatch.chdir(tmp_path)
    told = json.loads(said("--runs", reports, "--json").stdout)
    assert (told["scenarios"], told["runs"]) == (0, 1)
    assert told["aims"] == [{"fault": "kill", "met": "leader", "scenarios": 0, "runs": 1, "verdicts": {"pass": 1}}]


def test_markdown(scenarios: Path) -> None:
    """Two tables and a list."""
    told = said(scenarios, "--markdown").stdout
    assert told.startswith("## What was tried\n")
    assert "| fault | leader |" in told
    assert "### Never tried" in told
    assert "\n- faults: " in told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "name scenarios, or a folder of them"),
        (("nowhere.yaml",), "nowhere.yaml"),
        (("BAD",), "bad.yaml"),
        (("SCENARIOS", "--runs", "nowhere"), "is no folder"),
        (("SCENARIOS", "--runs", "SCENARIOS"), "there is no run in it"),
        (("SCENARIOS", "--json", "--markdown"), "leave the other out"),
    ],
)
def test_bad_input_is_one_clear_error(
    scenarios: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    says: str,
) -> None:
    """The exit code of bad input, and what to do."""
    bad = tmp_path / "bad.yaml"
    bad.write_text(yaml.safe_dump({**yaml.safe_load(SCENARIO), "timelin": []}), "utf-8")
    places = {"SCENARIOS": str(scenarios), "BAD": str(bad)}
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main(["coverage", *(places.get(word, word) for word in words)]) == ExitCode.USAGE
    assert says in " ".join(capsys.readouterr().err.split())
