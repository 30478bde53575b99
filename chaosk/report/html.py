"""``report.html``: a single file that opens offline, runs no script and fetches nothing."""

from __future__ import annotations

from dataclasses import fields

from markupsafe import Markup

from chaosk.report.content import ReportContent
from chaosk.report.pages import rendered
from chaosk.report.stalls import LATE


def html(content: ReportContent) -> str:
    """Render the page. Every value is escaped; only the drawing is inserted as it is, escaped by matplotlib."""
    values = {field.name: getattr(content, field.name) for field in fields(content)}
    more = {"svg": Markup(content.svg), "places": _places(content), "late": LATE}  # noqa: S704
    return rendered("chaosk.report", "report.html.j2", {**values, **more})


_PLACES = (
    ("ledger", "Ledger", "ledger"), ("guards", "Why the evidence does not carry", "guards"),
    ("objectives", "Objectives", "objectives"), ("findings", "Findings", "findings"),
    ("decisions", "Decisions", "decisions"), ("timeline", "Timeline", "svg"),
    ("stalls", "Why it stalled", "explanations"),
    ("faults", "Faults", "faults"), ("measures", "Measured", "measures"), ("cluster", "Cluster", "states"),
    ("checks", "Checks", "checks"), ("settings", "Settings", "groups"),
)  # fmt: skip
"""Sections: link name, title, and the attribute of the content (or its verdict) that fills it."""


def _places(content: ReportContent) -> tuple[tuple[str, str], ...]:
    """Return the sections of this page."""
    held = {"states": content.states.rows, "guards": content.verdict.guards, "decisions": content.verdict.decisions}
    return tuple((name, title) for name, title, what in _PLACES if held.get(what, getattr(content, what, None)))
