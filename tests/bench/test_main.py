"""The benchmark runner: lists what there is, runs what is named, and says so when it is not there."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

RUNNER = Path(__file__).parents[2] / "bench" / "__main__.py"
GREET = '"""Greets.\n\nAnd more.\n"""\nimport sys\nprint(__name__, sys.argv[1:])\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of benchmarks with the real runner: one that greets, one that ends with 3, and a shared module."""
    (tmp_path / "__main__.py").write_text(RUNNER.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "greet.py").write_text(GREET, encoding="utf-8")
    (tmp_path / "broken.py").write_text('"""Ends badly."""\nimport sys\nsys.exit(3)\n', encoding="utf-8")
    (tmp_path / "_shared.py").write_text("", encoding="utf-8")
    return tmp_path


@pytest.fixture
def main(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], int]:
    """The runner's entry point, with what it changes of ``sys`` put back."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    entry: Callable[[list[str]], int] = runpy.run_path(str(folder / "__main__.py"))["main"]
    return entry


def test_without_a_name_it_lists_them(main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]) -> None:
    """Each benchmark with the first line of its docstring, and nothing that is not one."""
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines() == ["broken  Ends badly.", "greet   Greets."]


def test_it_runs_the_one_that_is_named(main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]) -> None:
    """As a program of its own, with the words that follow as its arguments."""
    assert main(["greet", "--size", "1 2"]) == 0
    assert capsys.readouterr().out == "__main__ ['--size', '1 2']\n"


def test_its_exit_code_is_the_benchmarks(main: Callable[[list[str]], int]) -> None:
    """A benchmark that misses its goal fails the command."""
    with pytest.raises(SystemExit, match="3"):
        main(["broken"])


def test_an_unknown_name_is_answered_with_the_known_ones(
    main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that says what there is, and the exit code of bad usage."""
    assert main(["gret"]) == 64
    assert capsys.readouterr().err == "there is no benchmark 'gret'; known: broken, greet\n"


def test_every_benchmark_of_ours_says_what_it_measures() -> None:
    """The list that ``./dev bench`` prints has no empty line."""
    ours = runpy.run_path(str(RUNNER))
    assert all("no docstring" not in ours["headline"](path) for path in ours["benchmarks"]().values())
