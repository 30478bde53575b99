"""``chaosk report``: the command, its output and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample_run

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """A judged run."""
    return sample_run.sample_run(tmp_path / "run", shape=sample_run.Shape(rate=50))


def test_it_writes_all_and_prints_the_summary(run: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line is the path of report.html, and the exit code says that writing went well, not the verdict."""
    assert main(["report", str(run.root)]) == ExitCode.PASS
    assert capsys.readouterr().out.splitlines()[-1] == f"report: {run.html}"
    assert all(path.is_file() for path in (run.html, run.markdown, run.junit))


def test_one_format_prints_its_path(run: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """Made for scripts: nothing but the paths."""
    assert main(["report", str(run.root), "--format", "junit", "--format", "markdown"]) == ExitCode.PASS
    assert capsys.readouterr().out.split() == [str(run.junit), str(run.markdown)]
    assert not run.html.exists()


def test_a_report_of_a_violation_is_written_all_the_same(run: RunDir) -> None:
    """The command reports; judging, and its exit code, is the matter of `chaosk analyze`."""
    told = sample_run.verdict(found=Outcome.VIOLATION, verdict=Outcome.VIOLATION, healed=False)
    run.verdict.write_text(told.model_dump_json(), encoding="utf-8")
    assert main(["report", str(run.root)]) == ExitCode.PASS


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("plan.json", "not a run directory (it has no plan.json)"),
        ("verdict.json", "no verdict yet; judge the run with `chaosk analyze"),
    ],
)
def test_what_is_missing_is_one_clear_error(
    run: RunDir, capsys: pytest.CaptureFixture[str], spoil: str, said: str
) -> None:
    """With what to do, and the exit code of bad input."""
    (run.root / spoil).unlink()
    assert main(["report", str(run.root)]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_an_unknown_format_is_refused(run: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """The message lists what there is."""
    assert main(["report", str(run.root), "--format", "pdf"]) == ExitCode.USAGE
    assert "markdown" in capsys.readouterr().err
