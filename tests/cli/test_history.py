"""``chaosk history``: what it prints in each form, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sample_history import measured, run_of

from chaosk.cli.main import cli, main
from chaosk.core.errors import ExitCode
from chaosk.rundir.verdict import Outcome

HOSTILE = "=cmd|'/c calc'!A1 \x1b[31m\u202e<script>"


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Three runs on one version, a gate's run on another, one that is not judged, and what is no run."""
    for day, value in enumerate((3.1, 5.0, 8.4)):
        run_of(tmp_path / "reports" / "kill" / f"{day}", day=day, measures=(measured(value),))
    gate = tmp_path / "reports" / "gate-2026" / "runs" / "kill-1" / "kill" / "one"
    run_of(gate, day=3, kafka="4.1.0", measures=(measured(60.0, censored=True),), verdict=Outcome.DEGRADED)
    run_of(tmp_path / "reports" / "kill" / "unfinished").verdict.unlink()
    (tmp_path / "reports" / "photos").mkdir()
    return tmp_path / "reports"


def said(*words: object) -> Result:
    """What the command prints."""
    return CliRunner().invoke(cli, ["history", *map(str, words)], catch_exceptions=False)


def test_the_table_has_groups_and_trends(reports: Path) -> None:
    """Lower versions first; a line for each figure of a group with more than one run."""
    told = said(reports)
    lines = told.stdout.splitlines()
    first, second = (next(n for n, line in enumerate(lines) if version in line) for version in ("3.9.2", "4.1.0"))
    assert first < second
    assert lines[first] == "Kill the leader under load — Kafka 3.9.2, zookeeper"
    assert "2026-09-21 14:13:20  staging  ✓ pass   yes" in lines[first + 2]
    assert "  unavailability ▄▅█ 3.1 s to 8.4 s" in lines
    assert "  recovery ··· never measured" in lines
    assert "≥ 60.0 s" in lines[second + 2]
    assert told.exit_code == 0


def test_what_is_passed_over_is_named(reports: Path) -> None:
    """On stderr, so that a pipe gets the history alone."""
    told = said(reports)
    assert "unfinished: no verdict yet" in told.stderr
    assert f"passed over {reports / 'photos'}: there is no run in it" in told.stderr
    assert "photos" not in told.stdout


def test_the_default_is_reports(reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `chaosk run` writes; runs are named as they lie below the working directory."""
    monkeypatch.chdir(reports.parent)
    assert "reports/kill/0" in said().stdout


def test_json_has_everything(reports: Path) -> None:
    """Runs oldest first, and what was passed over, on stdout alone."""
    told = said(reports, "--json", "--metric", "unavailability")
    document = json.loads(told.stdout)
    assert [run["figures"]["unavailability"]["value"] for run in document["runs"]] == [3.1, 5.0, 8.4, 60.0]
    assert document["runs"][3]["cluster"]["kafka"] == "4.1.0"
    assert {Path(each["folder"]).name for each in document["passed_over"]} == {"unfinished", "photos"}
    assert told.stderr == ""


def test_csv_has_a_line_for_each_run(reports: Path) -> None:
    """With plain numbers, and whether they are lower bounds."""
    rows = list(csv.DictReader(io.StringIO(said(reports, "--csv").stdout)))
    assert [(row["unavailability"], row["unavailability_at_least"], row["recovery"]) for row in rows] == [
        ("3.1", "false", ""), ("5.0", "false", ""), ("8.4", "false", ""), ("60.0", "true", ""),
    ]  # fmt: skip
    assert {row["as_expected"] for row in rows} == {"true", "false"}


def test_runs_are_chosen(reports: Path) -> None:
    """By a word of the scenario, and since a day."""
    assert len(json.loads(said(reports, "--json", "--scenario", "leader").stdout)["runs"]) == 4
    assert len(json.loads(said(reports, "--json", "--since", "2026-09-23").stdout)["runs"]) == 2


def test_a_hostile_name_harms_neither_terminal_nor_spreadsheet(tmp_path: Path) -> None:
    """No control character gets out, and no cell is a formula."""
    figure = measured(1.0).model_copy(update={"unit": HOSTILE})
    for day in (0, 1):
        plan = {"inventory": {"name": HOSTILE}}
        run_of(tmp_path / f"{day}", day=day, measures=(figure,), scenario=HOSTILE, kafka=HOSTILE, plan=plan)
    for form in ((), ("--csv",), ("--json",)):
        told = said(tmp_path, *form).stdout
        assert "\x1b" not in told
        assert "\u202e" not in told
    row, _ = csv.DictReader(io.StringIO(said(tmp_path, "--csv").stdout))
    assert {row["scenario"][0], row["cluster"][0], row["kafka"][0]} == {"'"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nowhere",), "is no folder"),
        (("REPORTS/photos",), "there is no run in it"),
        (("REPORTS", "--metric", "recovry"), "did you mean 'recovery'?"),
        (("REPORTS", "--since", "yesterday"), "is no date; write one like 2026-11-24"),
        (("REPORTS", "--scenario", "zookeeper"), "none of 4 runs is of such a scenario and time"),
        (("REPORTS", "--json", "--csv"), "leave the other out"),
    ],
)
def test_bad_input_is_one_clear_error(
    reports: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    """The exit code of bad input, and one sentence."""
    assert main(["history", *(word.replace("REPORTS", str(reports)) for word in words)]) == ExitCode.USAGE
    assert says in " ".join(capsys.readouterr().err.split())
