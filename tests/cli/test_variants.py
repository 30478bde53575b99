"""Several variants in one file, as the subcommands take them. Real runs of one are in tests/run and tests/release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_documents import SCENARIO, VARIED, written
from sample_gate import unreachable

from chaosk.campaign.gate.record import load, save
from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.fixture
def varied(tmp_path: Path) -> str:
    """A file with three variants: short, wide and plain."""
    return str(written(tmp_path, VARIED, "varied.yaml"))


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said of a mistake, on one line."""
    return " ".join(capsys.readouterr().err.split())


def test_all_of_them_are_validated(varied: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How many there are is said; a mistake in one of them is a mistake of the file."""
    assert main(["validate", varied]) == ExitCode.PASS
    assert capsys.readouterr().out == f"{varied}: ok, 3 variants\n"
    wrong = written(tmp_path, VARIED.replace("{hold: 5s}", "{hold: 5}"), "wrong.yaml")
    assert main(["validate", str(wrong)]) == ExitCode.USAGE
    assert "timeline[0].for: 5 is not a duration" in (said := told(capsys))
    assert said.endswith("(${hold} is 5) (in variant `short`)")
    assert main(["validate", varied, "--set", "hold=7s"]) == ExitCode.USAGE
    assert "it is 'hold' that the variants differ in; choose with --variant: `short`, `wide`" in told(capsys)


def test_the_plan_of_each_or_of_one(varied: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other, each under its name; or the one that is named."""
    assert main(["plan", varied]) == ExitCode.PASS
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("Kill the leader")] == [
        f"Kill the leader ({name})" for name in ("short", "wide", "plain")
    ]
    assert [line.strip() for line in lines if "lasts" in line][::4] == ["lasts 5s", "lasts 20s", "lasts 30s"]
    assert main(["plan", varied, "--variant", "wide"]) == ExitCode.PASS
    shown = capsys.readouterr().out
    assert "Kill the leader (wide)" in shown
    assert "(short)" not in shown
    assert main(["plan", varied, "--variant", "wied"]) == ExitCode.USAGE
    assert "there is no variant 'wied'; did you mean 'wide'?" in told(capsys)


@pytest.mark.parametrize("words", [["run"], ["doctor"]])
def test_one_that_is_not_there(
    varied: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """Refused before anything is reached for."""
    cluster = str(unreachable(tmp_path))
    assert main([*words, varied, "--inventory", cluster, "--variant", "shrot"]) == ExitCode.USAGE
    assert "there is no variant 'shrot'; did you mean 'short'?" in told(capsys)
    single = str(written(tmp_path, SCENARIO, "single.yaml"))
    assert main([*words, single, "--inventory", cluster, "--variant", "short"]) == ExitCode.USAGE
    assert "has no variants, so --variant short names none" in told(capsys)


def test_a_doctor_is_asked_about_one(varied: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says which there are."""
    assert main(["doctor", varied, "--inventory", str(unreachable(tmp_path))]) == ExitCode.USAGE
    assert "holds variants; name one of them with --variant: `short`, `wide`, `plain`" in told(capsys)


def test_a_run_is_a_run_of_each(varied: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each by a process of its own, although the others did not pass; one report over all, and the worst exit code."""
    cluster, out = str(unreachable(tmp_path)), tmp_path / "out"
    code = main(["run", varied, "--inventory", cluster, "--output", str(out), "--seed", "7", "--set", "count=5"])
    shown = capfd.readouterr()
    assert code == ExitCode.USAGE, shown
    assert "it is 'count' that the variants differ in" in shown.err
    assert not out.exists()
    code = main(["run", varied, "--inventory", cluster, "--output", str(out), "--seed", "7"])
    shown = capfd.readouterr()
    assert code == ExitCode.PREFLIGHT, shown
    assert "1 of 3: Kill the leader (short)" in shown.out
    (folder,) = out.iterdir()
    assert shown.out.splitlines()[-1] == f"report: {folder / 'gate.html'}"
    gate = load(folder)
    assert [(one.variant, one.exit_code, one.state) for one in gate.attempts] == [
        (name, 69, "done") for name in ("short", "wide", "plain")
    ]
    assert gate.seed == 7
    assert [one.differs for one in gate.attempts][1] == {"hold": "20s", "count": 9}
    page = (folder / "gate.html").read_text("utf-8")
    assert "<h2>Variants of Kill the leader</h2>" in page
    assert len({one.key for one in gate.attempts}) == 3


def test_what_is_left_of_a_gate_is_continued(varied: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The variants that were not run, unless the file says something else of them by now."""
    cluster, out = str(unreachable(tmp_path)), tmp_path / "out"
    words = ["gate", varied, "--only", "short", "--only", "plain", "--inventory", cluster, "--output", str(out)]
    assert main(words) == ExitCode.PREFLIGHT
    (folder,) = out.iterdir()
    gate = load(folder)
    assert [(one.variant, one.state) for one in gate.attempts] == [("short", "done"), ("plain", "not run")]
    text = Path(varied).read_text("utf-8")
    Path(varied).write_text(text.replace("{hold: 5s}", "{hold: 6s}"), "utf-8")
    assert main(["gate", "--continue", str(folder)]) == ExitCode.PREFLIGHT
    done = load(folder)
    assert [one.state for one in done.attempts] == ["done", "done"]
    save(folder, gate)
    Path(varied).write_text(text.replace("plain:", "bare:"), "utf-8")
    capfd.readouterr()
    assert main(["gate", "--continue", str(folder)]) == ExitCode.USAGE
    assert "varied.yaml: has changed since the gate was begun" in capfd.readouterr().err
    assert json.loads((folder / "gate.json").read_text("utf-8"))["attempts"][1]["state"] == "not run"
