"""The reports of a gate: the same in every form, escaped, and red exactly if the gate does not pass."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from junitparser import JUnitXml, TestSuite
from markdown_it import MarkdownIt
from sample_gate import attempt, figure, gate, measured

from chaosk.campaign.gate.content import content
from chaosk.campaign.gate.files import write
from chaosk.campaign.gate.html import html
from chaosk.campaign.gate.junit import junit
from chaosk.campaign.gate.markdown import markdown
from chaosk.campaign.gate.outcome import exit_code
from chaosk.campaign.gate.record import Attempt, FigureComparison, Gate
from chaosk.rundir.verdict import Measure

PASSED = gate(*measured((10.0, 11.0, 12.0)))
MIXED = gate(
    attempt("A", said="PASS — nothing wrong in 45 checks"),
    attempt("B", exit_code=1, said="VIOLATION — 3 records lost"),
    attempt("C", exit_code=69, verdict=None, folder=None, said="node1: it does not answer"),
    attempt("D", exit_code=None),
    why_ended="C did not pass, and it was not to keep going",
)
WORSE = gate(
    *measured((20.0, 21.0, 22.0)), baseline="/former",
    comparisons=(
        FigureComparison(scenario="Kill", metric="recovery", unit="s", before=(10.0, 11.0, inf), now=(20.0, 21.0, 22.0),
                   p=0.004, worse=True, missed=0.01),
        FigureComparison(scenario="Kill", metric="unavailability", unit="s", before=(1.0,) * 3, now=(1.0,) * 3, p=0.6,
                   missed=0.0),
        FigureComparison(scenario="Kill", metric="latency_p99", unit="s", now=(0.01,), why_not="the baseline has none"),
    ),
)  # fmt: skip


def suite(told: Gate) -> TestSuite:
    """The one suite of the document."""
    (only,) = JUnitXml.fromstring(junit(told).encode())
    return only


@pytest.mark.parametrize(
    ("told", "headline"),
    [
        (PASSED, "PASS — 3 of 3 runs passed"),
        (MIXED, "FAIL — 1 of 4 runs passed; 1 not run"),
        (WORSE, "FAIL — 3 of 3 runs passed; worse than the baseline: recovery of Kill"),
        (gate(attempt(exit_code=3)), "NOT HEALED — 0 of 1 runs passed"),
        (gate(attempt(), attempt(repeat=2, exit_code=130)), "INTERRUPTED — 1 of 2 runs passed"),
        (gate(attempt(exit_code=69, verdict=None)), "COULD NOT BE RUN — 0 of 1 runs passed"),
        (
            gate(attempt(), baseline="/former", comparisons=WORSE.comparisons[1:]),
            "INCONCLUSIVE — 1 of 1 runs passed; none of 2 figures is worse than the baseline; 1 could not be compared",
        ),
    ],
)
def test_the_headline_is_the_same_everywhere(told: Gate, headline: str) -> None:
    """What stands, how many passed, and what is worse."""
    found = content(told)
    assert found.headline == headline
    assert headline in html(found)
    assert headline.partition(" — ")[0] in markdown(found).splitlines()[0]
    (said,) = ET.fromstring(junit(told)).findall(".//property[@name='verdict']")  # noqa: S314 - our own
    assert said.get("value") == headline


def test_every_run_is_told_with_its_report(tmp_path: Path) -> None:
    """One that was not judged has none; one that was not run says so, and why is told once."""
    page = write(tmp_path, MIXED).read_text("utf-8")
    assert '<a href="runs/b-1/x/y/report.html">B</a>' in page
    assert "node1: it does not answer" in page
    assert "runs/c-1" not in page
    assert "The rest was not run: C did not pass" in page
    assert (tmp_path / "gate.md").read_text("utf-8").count("VIOLATION") == 1
    rows = {row.scenario: (row.state, row.said) for row in content(MIXED).runs}
    assert rows["D"] == ("not run", "not run")
    assert rows["C"][0] == "inconclusive"


def test_figures_over_repeats_have_their_interval() -> None:
    """A median, and how sure the interval is; a scenario that was run once has none."""
    (row,) = content(PASSED).figures
    assert (row.scenario, row.name, row.runs, row.median, row.interval) == (
        "Kill",
        "recovery",
        3,
        "11.0 s",
        "10.0 s to 12.0 s (75 %)",
    )
    assert content(gate(attempt(figures=(figure("recovery", 3.0),)))).figures == ()
    assert content(gate(*measured((3.0, inf)))).figures[0].interval.startswith("3.0 s to no end")


def test_how_long_it_took_is_told_by_the_clock() -> None:
    """Of runs side by side that is less than all of them together; of a former record it is their sum."""
    facts = dict(content(gate(attempt(), attempt("B"), side_by_side=2, seconds=70.0)).facts)
    assert (facts["took"], facts["side by side"]) == ("70.0 s", "2 runs at a time, 2 min 3 s of runs in all")
    alone = dict(content(gate(attempt(), attempt("B"))).facts)
    assert alone["took"] == "2 min 3 s"
    assert "side by side" not in alone


def variant(name: str, repeat: int = 1, exit_code: int | None = 0, **more: Any) -> Attempt:
    """A run of one variant of a file."""
    plain = {"file": "/scenarios/kill.yaml", "variant": name, "differs": {"acks": name, "retry": name == "all"}}
    return attempt(f"Kill ({name})", repeat, exit_code, **plain | more)


def of(metric: str, subject: str, value: float | None, *, censored: bool = False) -> Measure:
    """A figure of one subject."""
    return figure(metric, value, censored=censored).model_copy(update={"subject": subject})


def test_variants_are_beside_each_other(tmp_path: Path) -> None:
    """What they differ in, how each ended, and each figure of each subject; what one has not measured stays empty."""
    told = gate(
        attempt("Other"),
        variant("all", measures=(of("recovery", "kill", 3.0), of("unavailability", "writer", 2.0))),
        variant(
            "1", exit_code=1, measures=(of("recovery", "kill", 9.0, censored=True), of("latency_p99", "writer", 0.5))
        ),
        variant("0", exit_code=None),
    )
    (table,) = content(told).variants
    assert (table.scenario, table.variants, table.says) == ("Kill", ("all", "1", "0"), "Of the whole run.")
    assert [(row.name, row.subject, row.cells) for row in table.rows] == [
        ("acks", "", ("all", "1", "0")),
        ("retry", "", ("true", "false", "false")),
        ("verdict", "", ("✓ pass", "✕ violation", "· not run")),
        ("unavailability", "writer", ("2.0 s", "", "")),
        ("latency p99", "writer", ("", "500 ms", "")),
        ("recovery", "kill", ("3.0 s", "≥ 9.0 s", "")),
    ]
    page = write(tmp_path, told).read_text("utf-8")
    assert "<h2>Variants of Kill</h2>" in page
    assert '<td>recovery</td><td>kill</td><td class="right">3.0 s</td><td class="right">≥ 9.0 s</td>' in page
    assert "| recovery | kill | 3.0 s | ≥ 9.0 s |   |" in (tmp_path / "gate.md").read_text("utf-8")


def test_of_repeated_variants_the_median_is_shown() -> None:
    """Of the runs that measured it, one without an end as the longest; and each verdict, how often."""
    told = gate(
        *(variant("all", n, measures=(of("recovery", "kill", float(n)),)) for n in (1, 2, 3)),
        *(
            variant("1", n, code, measures=(of("recovery", "kill", 9.0, censored=n > 1),))
            for n, code in ((1, 0), (2, 1), (3, 1))
        ),
    )
    (table,) = content(told).variants
    assert table.says == "Of the whole run; the median of up to 3 runs."
    assert table.rows[-2].cells == ("✓ pass", "✓ pass (1), ✕ violation (2)")
    assert table.rows[-1].cells == ("2.0 s", "no end")


def test_one_variant_alone_is_beside_none() -> None:
    """Of a file without variants there is no table, nor where the others were not to be run."""
    assert content(gate(variant("all"))).variants == ()
    assert content(gate(variant("all"), variant("1", file="/scenarios/other.yaml"))).variants == ()
    assert content(MIXED).variants == ()


def test_the_comparison_states_its_rates() -> None:
    """What is worse, how likely it is chance, how often a doubling would be missed, and why something is open."""
    found = content(WORSE)
    assert [(row.state, row.before, row.now) for row in found.compared] == [
        ("worse", "11.0 s of 3", "21.0 s of 3"), ("not worse", "1.0 s of 3", "1.0 s of 3"),
        ("not compared", "none", "10 ms of 1"),
    ]  # fmt: skip
    assert found.compared[0].why == "twice as bad would be passed over in 1 % of cases"
    assert "the probability that any figure is reported as worse is at most 5 %" in found.rates
    for text in (html(found), markdown(found)):
        assert "✕ worse" in text
        assert "0.4 %" in text or "0.4 &#37;" in text


@pytest.mark.parametrize(
    "told", [PASSED, MIXED, WORSE, gate(attempt(exit_code=None)), gate(attempt(), attempt("B", exit_code=2))]
)
def test_junit_is_red_exactly_if_the_gate_does_not_pass(told: Gate) -> None:
    """A case a run and a case a figure; what was not run is skipped where something else is red."""
    found = suite(told)
    assert found.tests == len(told.attempts) + len(told.comparisons)
    assert bool(found.failures + found.errors) is bool(exit_code(told))


def test_nothing_in_it_is_obeyed(tmp_path: Path) -> None:
    """Markup in names and messages is shown, not rendered."""
    evil = "<script>alert(1)</script> [x](http://e.example) | `rm`"
    measures = (of("recovery", evil, 1.0),)
    varied = [
        variant(f"{evil}{n}", said=evil, folder='x"><script>', differs={evil: evil}, measures=measures) for n in (1, 2)
    ]
    told = gate(*varied, why_ended=evil, baseline=evil)
    write(tmp_path, told)
    assert "<script>" not in (tmp_path / "gate.html").read_text("utf-8")
    shown = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render((tmp_path / "gate.md").read_text("utf-8"))
    assert "<script>" not in shown
    assert "href=" not in shown
    assert {each.name for each in tmp_path.iterdir()} == {"gate.html", "gate.md", "junit.xml"}
