"""report.md: short, and nothing in a name becomes markup, a link, a mention or a cell."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from as_github_shows import rendered
from hypothesis import given
from hypothesis import strategies as st
from sample_run import Shape, guard, lost, objective, outages, verdict

from chaosk.core.printable import printable
from chaosk.report.content import content
from chaosk.report.markdown import escaped, markdown
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome, Severity, Verdict

MakeRun = Callable[..., RunDir]


def of(make_run: MakeRun, told: Verdict | None = None) -> str:
    """The Markdown of the sample run, with another verdict."""
    return markdown(content(make_run(told)))


def shows(text: str, *, around: tuple[str, str] = ("", "")) -> None:
    """Assert that a renderer makes one paragraph of it, with code spans at most, whose words are those of the text."""
    page = rendered(f"{around[0]}{escaped(text)}{around[1]}")
    found = re.fullmatch(r"<p>((?:[^<]|</?code>)*)</p>\n", page)
    assert found, page
    words = unescape(re.sub("</?code>", "", found[1])).split()
    assert words == f"{around[0]}{printable(text)}{around[1]}".split(), page


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_escaped_text_shows_itself(text: str) -> None:
    """Whatever the text, a renderer makes one paragraph of it with nothing inside but the text's own words."""
    shows(text, around=("x ", " y"))


@given(st.text(alphabet="\\`*_{}[]()#+-.!|~<>&@:$^= \n1a/w\"'", min_size=1, max_size=40))
def test_nothing_special_is_left_at_a_lines_start(text: str) -> None:
    """No heading, list, rule, quote, code block or table from what a line begins with."""
    if escaped(text):
        shows(text)


@given(st.text(alphabet="\\`*_[]()|~<>&@ 1a", min_size=1, max_size=20))
def test_a_cell_shows_its_text(text: str) -> None:
    """Bars and backslashes too, and the table keeps its columns."""
    page = rendered(f"| a | b |\n| --- | --- |\n| {escaped(text, cell=True) or ' '} | c |\n")
    cells = re.findall(r"<td>(.*?)</td>", page)
    assert len(cells) == 2, page
    assert unescape(re.sub("</?code>", "", cells[0])).split() == printable(text).split(), page


@pytest.mark.parametrize(
    "text", ["@everyone", "#123", "http://evil.example", "www.evil.example", ":tada:", "a|b", "<b>", "~~x~~", "$x$"]
)
def test_what_only_some_dialects_know_is_code(text: str) -> None:
    """Mentions, issue references, bare links, emoji, tables, HTML, strikethrough, formulas."""
    assert escaped(f"see {text}, please") == f"see `{text}`, please"


@pytest.mark.parametrize(
    "text", ["+10.50 s", "producer_incarnation", "2026-11-27 16:47:39 UTC", "100 %", "acks=1", "1 & 2", "cut!"]
)
def test_nobody_meets_an_entity(text: str) -> None:
    """What people read in a report is written as it is."""
    assert escaped(text) == text


def test_plain_words_stay_as_they_are() -> None:
    """Who reads the source reads the words."""
    assert escaped("Kill the leader, 11.0 s (allowed: 20 s)") == "Kill the leader, 11.0 s (allowed: 20 s)"


def test_it_begins_with_the_verdict(make_run: MakeRun) -> None:
    """The headline, then scenario and hypothesis."""
    lines = of(make_run).splitlines()
    assert lines[0] == "## ✓ PASS — nothing wrong in 7 checks (1 not judged), 2 of 2 objectives met"
    assert lines[2].startswith("**Kill the leader under load** — With acks=all")


def test_it_has_what_a_reviewer_asks_for(make_run: MakeRun) -> None:
    """Guards, objectives, findings with evidence, stalls with their reason, faults, figures, and which run it was."""
    told = verdict(
        found=Outcome.VIOLATION, verdict=Outcome.VIOLATION, guards=(guard(),),
        findings=(*outages(Shape()), lost(Severity.VIOLATION)),
        objectives=(objective("unavailability", "writer", 40, maximum=20),),
    )  # fmt: skip
    text = of(make_run, told)
    for expected in (
        "### Why the evidence does not carry", "start it and run the scenario again", "✕ missed", "**violation A4**",
        "- orders-0: offsets 1200 to 1219, 20 records", "6,863 rows in `evidence/lost.jsonl`",
            "9.2 s until broker 2 led orders 0", "1,832 ok (late)",
        "broker 1 on node1", "<details><summary>Measured</summary>", "seed 42",
    ):  # fmt: skip
        assert expected in text, expected


def test_information_has_no_rows_of_evidence(make_run: MakeRun) -> None:
    """Its reasons stand under the stalls; a pull request stays short."""
    assert "| severity |" not in of(make_run)


def test_every_table_has_as_many_cells_as_columns(make_run: MakeRun) -> None:
    """Also where a name holds the sign that ends a cell."""
    name = "wri|ter"
    told = verdict(objectives=(objective("unavailability", name, 3, maximum=20),), faults=())
    text = of(make_run, told)
    assert "`wri\\|ter`" in text
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert tables
    for table in tables:
        widths = {line.replace("\\|", "").count("|") for line in table.splitlines()}
        assert len(widths) == 1, table


def test_names_with_markup_render_as_text(make_run: MakeRun) -> None:
    """A scenario called like a link, an image or a script."""
    evil = "[x](http://127.0.0.1:9/) ![y](z) <script>alert(1)</script> `c` **b**"
    page = rendered(of(make_run, verdict(scenario=evil, hypothesis=evil, summary=f"PASS: {evil}.")))
    assert not re.search(r"<(script|a|img|code)\b[^>]*(alert|href|src|>c)", page)
    assert page.count("&lt;script&gt;") >= 3


def test_what_was_not_put_back_is_told_at_the_top(make_run: MakeRun) -> None:
    """And what broke the run off, and what could not be read."""
    run = make_run(verdict(healed=False))
    run.run.write_text('{"not_healed": ["kill: broker 1 does not start"], "error": "disk full"}', encoding="utf-8")
    run.plan.write_text("{", encoding="utf-8")
    text = markdown(content(run))
    assert "**The cluster was not put back:** kill: broker 1 does not start" in text
    assert "**The run was broken off:** disk full" in text
    assert "Could not be read: plan.json cannot be read" in text


def test_it_is_the_same_every_time(make_run: MakeRun) -> None:
    """The same run, the same bytes."""
    run = make_run()
    assert markdown(content(run)) == markdown(content(run))


def test_limits_that_the_scenario_lifts_are_told(make_run: MakeRun) -> None:
    """With the reason it gives, escaped like every other text; without any, nothing is said."""
    page = of(make_run, verdict().model_copy(update={"allowed": {"all_brokers": "a *test* of <b>all</b>"}}))
    assert "**Beyond the limits of harm, on purpose** (all brokers): a " in page
    shown = rendered(page)
    assert "a <code>*test*</code> of <code>&lt;b&gt;all&lt;/b&gt;</code>" in shown
    assert "Beyond the limits" not in of(make_run)
