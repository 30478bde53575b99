"""``gate.md``: a gate for a pull request, short, every value escaped for Markdown and for HTML in it."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.campaign.gate.content import GateContent
from chaosk.report.markdown import escaped, section
from chaosk.report.words import SIGNS

_RESULTS = {"worse": "✕ worse", "not worse": "✓ not worse", "not compared": "? not compared"}


def markdown(content: GateContent) -> str:
    """Return the report, headline first."""
    return "\n".join(_lines(content)) + "\n"


def _lines(content: GateContent) -> Iterator[str]:
    yield f"## {SIGNS[content.tone]} {escaped(content.headline)}"
    if content.why_ended:
        yield ""
        yield f"**The rest was not run:** {escaped(content.why_ended)}"
    runs = [(row.scenario, row.repeat, f"{row.sign} {row.said}", row.took) for row in content.runs]
    yield from section("Runs", ("scenario", "run", "verdict", "took"), runs)
    for each in content.variants:
        cells = [(row.name, row.subject, *row.cells) for row in each.rows]
        yield from section(f"Variants of {each.scenario}", ("", "of", *each.variants), cells)
        yield escaped(each.says)
    compared = [
        (row.scenario, row.name, row.before, row.now, row.chance, _RESULTS[row.state], row.why)
        for row in content.compared
    ]
    columns = ("scenario", "figure", "baseline, median", "now, median", "by chance", "result", "")
    yield from section("Against the baseline", columns, compared)
    if content.rates:
        yield escaped(content.rates)
    figures = [(row.scenario, row.name, str(row.runs), row.median, row.interval) for row in content.figures]
    yield from section("Figures over repeats", ("scenario", "figure", "runs", "median", "interval"), figures)
    yield ""
    yield escaped(" · ".join(f"{name} {value}" for name, value in content.facts))
