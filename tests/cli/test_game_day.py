"""The options of a game day: what does not fit is refused before anything is touched."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from sample_documents import SCENARIO, written

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--operator", "anna"], "--operator is for a game day"),
        (["--answer-within", "5m"], "--answer-within is for a game day"),
        (["--watch-group", "billing"], "--watch-group is for a game day"),
        (["--game-day", "--answer-within", "soon"], "'soon' is not a duration"),
        (["--game-day", "--answer-within", "500ms"], "too short to read a question"),
        (["--game-day", "--operator", "an\x1bna"], "printable characters"),
        (["--game-day"], "needs a terminal"),
    ],
)
def test_what_does_not_fit_is_refused(
    words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to do, and no run directory."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    path = written(tmp_path, SCENARIO)
    assert main(["run", str(path), "--output", str(tmp_path / "reports"), *words]) == ExitCode.USAGE
    assert says in capsys.readouterr().err
    assert not (tmp_path / "reports").exists()
