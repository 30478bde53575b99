"""The summary on the terminal: short, plain where it must be, and it ends with the path of the report."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from sample_run import guard, lost, objective, verdict

from chaosk.report import summary
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome, Severity, Verdict

RUN = RunDir(Path("/srv/reports/kill-the-leader/2026-09-21T14-13-20Z"))


def printed(told: Verdict, run: RunDir = RUN, width: int = 100, *, colours: bool = False) -> str:
    """What a console of that width shows."""
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colours, color_system="standard" if colours else None)
    console.print(summary(told, run), soft_wrap=True)
    return out.getvalue()


def test_it_ends_with_the_path_of_the_report() -> None:
    """On the last line, whole, however narrow the terminal: it is there to be copied."""
    for width in (20, 80, 200):
        assert printed(verdict(), width=width).splitlines()[-1] == f"report: {RUN.html}"


def test_it_begins_with_the_headline() -> None:
    """With its shape; then scenario and hypothesis."""
    lines = printed(verdict()).splitlines()
    assert lines[1] == "✓ PASS — nothing wrong in 7 checks (1 not judged), 2 of 2 objectives met"
    assert lines[2].strip().startswith("Kill the leader under load: With acks=all")


def test_objectives_stand_beside_what_was_measured() -> None:
    """In a table."""
    row = next(line for line in printed(verdict()).splitlines() if line.strip().startswith("unavailability"))
    assert row.split("  ")[1:] != []
    assert all(word in row for word in ("writer", "whole run", "at most 20 s", "11.0 s", "✓ met"))


def test_without_objectives_the_figures_are_told() -> None:
    """The worst outage, the number of records."""
    assert "unavailability 11.0 s; acknowledged records 32,480 records" in printed(verdict(objectives=()))


def test_findings_and_guards_are_told_with_where_to_look() -> None:
    """Violations and what is allowed; information is for the report."""
    told = verdict(
        found=Outcome.VIOLATION,
        verdict=Outcome.VIOLATION,
        guards=(guard(),),
        findings=(*verdict().findings, lost(Severity.VIOLATION), lost(Severity.ALLOWED, 1, "acks is not all")),
    )
    text = printed(told, width=200)
    assert (
        "✕ A4 6,863 acknowledged records are not in the log (6,863 rows in evidence/lost.jsonl; chaosk explain A4)"
        in text
    )
    assert "allowed: acks is not all (1 row in evidence/lost.jsonl; chaosk explain A4)" in text
    assert "? fault not verified: kill: broker 1 was already dead" in text
    assert "stretches" not in text


@pytest.mark.parametrize("outcome", list(Outcome))
def test_colours_only_where_there_is_a_terminal(outcome: Outcome) -> None:
    """Plain text in a pipe; on a terminal the headline has a colour."""
    told = verdict(found=outcome, verdict=outcome)
    assert "\x1b" not in printed(told)
    assert "\x1b[1;3" in printed(told, colours=True)


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR set a terminal gets no colours."""
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    Console(file=out, width=100, force_terminal=True).print(summary(verdict(), RUN))
    assert "\x1b[1;32m" not in out.getvalue()
    assert not any(f"\x1b[{code}m" in out.getvalue() for code in range(30, 38))


@given(st.text(max_size=80))
@settings(max_examples=60)
def test_no_name_moves_the_cursor_or_becomes_markup(text: str) -> None:
    """Escape sequences are shown, square brackets are no style, lines stay lines."""
    told = verdict(scenario=text, hypothesis=text, objectives=(objective("unavailability", text, 1, maximum=2),))
    shown = printed(told, width=400)
    assert not any(ord(character) < 32 and character != "\n" for character in shown)
    assert "\x7f" not in shown


def test_square_brackets_are_shown() -> None:
    """A name that looks like rich's markup is a name."""
    assert "[bold red]x[/]" in printed(verdict(scenario="[bold red]x[/]"))
