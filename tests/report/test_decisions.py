"""What an operator decided and noted, in the reports: who, when, what; a note is text, whatever is in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt
from sample_run import ns, verdict

from chaosk.report.content import content
from chaosk.report.html import html
from chaosk.report.markdown import markdown
from chaosk.rundir.decision import Decision
from chaosk.rundir.paths import RunDir

MakeRun = Callable[..., RunDir]

WALL = 1_790_000_000_000_000_000
NOTE = "<script>alert(1)</script> | [x](http://y) \x1b[31m"


def page(make_run: MakeRun, form: str, *decisions: Decision) -> str:
    """A report with these decisions."""
    told = content(make_run(verdict(decisions=decisions)))
    return html(told) if form == "html" else markdown(told)


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_who_decided_what_and_when(make_run: MakeRun, form: str) -> None:
    """The moment as in all the report, and the wall clock in UTC."""
    decision = Decision(at=int(ns(12.5)), wall=WALL, who="anna", what="skip", entry="kill", text="not today")
    text = page(make_run, form, decision)
    for part in ("Decisions and notes", "12.50 s", "2026-09-21T14", "anna", "skip", "kill", "not today"):
        assert part in text, part


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_a_note_is_text(make_run: MakeRun, form: str) -> None:
    """No element, no link, no cell, no escape sequence comes out of it."""
    text = page(make_run, form, Decision(at=int(ns(1)), wall=WALL, who="<anna>", what="note", text=NOTE))
    shown = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text) if form == "markdown" else text
    for part in ("<script>", "\x1b", "<anna>", 'href="http'):
        assert part not in shown
    assert "alert(1)" in text


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_without_any_nothing_is_said(make_run: MakeRun, form: str) -> None:
    """Other runs look as they did."""
    assert "Decisions and notes" not in page(make_run, form)
