"""`chaosk list`: what can be named, on a terminal, in a pipe and as Markdown."""

from __future__ import annotations

import pytest

from chaosk.cli import _reference
from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.mark.parametrize("kind", _reference.KINDS)
def test_every_name_is_listed(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """Each page's spelling stands in the list, with its summary beside it."""
    assert main(["list", kind]) == ExitCode.PASS
    shown = capsys.readouterr().out
    for page in _reference.pages(kind):
        assert page.spelling in shown
    assert f"Details and an example: chaosk list {kind} NAME" in shown


def test_one_page(capsys: pytest.CaptureFixture[str]) -> None:
    """All about one step: words, fields with their kinds and defaults, an example."""
    assert main(["list", "steps", "cut_network"]) == ExitCode.PASS
    shown = capsys.readouterr().out
    for part in ("cut_network", "between", "direction", "both, in, out", "Example", "everyone else"):
        assert part in shown


def test_markdown_is_the_committed_reference(capsys: pytest.CaptureFixture[str]) -> None:
    """What the option prints is what docs/reference holds."""
    assert main(["list", "conditions", "--markdown"]) == ExitCode.PASS
    assert capsys.readouterr().out == _reference.markdown("conditions")


def test_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    """The nearest name, with the exit code of a wrong command line."""
    assert main(["list", "steps", "kil_broker"]) == ExitCode.USAGE
    assert "did you mean 'kill_broker'?" in capsys.readouterr().err
    assert main(["list", "stepps"]) == ExitCode.USAGE
    assert main(["list"]) == ExitCode.USAGE


def test_square_brackets_are_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """Optional arguments are written in brackets, and shown in them."""
    assert main(["list", "targets"]) == ExitCode.PASS
    assert "random(COUNT[, TARGET])" in capsys.readouterr().out
