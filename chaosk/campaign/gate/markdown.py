"""``gate.md``: a gate for a pull request, short, every value escaped for Markdown and for HTML in it."""

from __future__ import annotations

from dataclasses import fields

from chaosk.campaign.gate.content import GateContent
from chaosk.report.markdown import rendered
from chaosk.report.words import SIGNS

_RESULTS = {"worse": "✕ worse", "not worse": "✓ not worse", "not compared": "? not compared"}


def markdown(content: GateContent) -> str:
    """Return the report, headline first."""
    values = {field.name: getattr(content, field.name) for field in fields(content)} | {
        "sign": SIGNS[content.tone],
        "run_rows": [(row.scenario, row.repeat, f"{row.sign} {row.said}", row.took) for row in content.runs],
        "variants": [
            (
                one.scenario,
                ("", "of", *one.variants),
                [(row.name, row.subject, *row.cells) for row in one.rows],
                one.says,
            )
            for one in content.variants
        ],
        "compared_rows": [
            (row.scenario, row.name, row.before, row.now, row.chance, _RESULTS[row.state], row.why)
            for row in content.compared
        ],
        "figure_rows": [(row.scenario, row.name, str(row.runs), row.median, row.interval) for row in content.figures],
        "facts": [f"{name} {value}" for name, value in content.facts],
    }
    return rendered("chaosk.campaign.gate", "gate.md.j2", values)
