"""`chaosk explain`: the page of a rule by its id or by its check."""

from __future__ import annotations

import pytest

from chaosk.analysis.check_runner import checks
from chaosk.cli import _reference
from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.mark.parametrize("name", sorted(checks()))
def test_every_check_and_its_rule_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By either name, in either case, with the columns of its evidence; several checks of one rule all stand there."""
    kind = checks()[name]
    for word in (name, kind.rule, kind.rule.lower(), *kind.also):
        assert main(["explain", word]) == ExitCode.PASS
        shown = " ".join(capsys.readouterr().out.split())
        assert f"{name} ({kind.rule})" in shown
        assert " ".join(_reference.page("checks", name).summary.replace("``", "").split()) in shown


@pytest.mark.parametrize(("word", "nearest"), [("lsot", "lost"), ("A44", "A4"), ("", "")])
def test_what_is_no_rule_is_refused(word: str, nearest: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest name, and the exit code of a wrong command line."""
    assert main(["explain", word]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert f"{word!r} is no rule" in said
    assert nearest in said
