"""Findings for people: a table, and the remedies below it; or for programs, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from chaosk.run.preflight.diagnostic import Diagnostic, fit

_STYLES = {"ok": "green", "warning": "yellow", "unknown": "yellow", "bad": "bold red"}


def table(findings: Sequence[Diagnostic]) -> Table:
    """Return a table with one row a finding; repeated places are left blank."""
    drawn = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("where", "what", "state", "seen"):
        drawn.add_column(name, overflow="fold", no_wrap=name in {"where", "state"})
    before = ""
    for one in findings:
        where = one.where if one.where != before else ""
        drawn.add_row(Text(where), Text(one.what), Text(one.state, _STYLES[one.state]), Text(one.seen))
        before = one.where
    return drawn


def to_do(findings: Sequence[Diagnostic]) -> Iterator[Text]:
    """Yield the remedies, worst first, each with its place; then a line that says if a run may start."""
    for state in ("bad", "warning"):
        for one in findings:
            if one.state == state and one.todo:
                yield Text.assemble((f"{one.where}, {one.what}: ", _STYLES[state]), one.todo)
    if fit(findings):
        yield Text("A run may start.", "green")
    else:
        yield Text("No run may start until every bad finding is fixed.", "bold red")


def as_json(name: str, findings: Sequence[Diagnostic]) -> str:
    """Return JSON with the cluster's name, ``fit`` (true if a run may start), and every finding."""
    listed = [one.model_dump(mode="json") for one in findings]
    return json.dumps({"cluster": name, "fit": fit(findings), "findings": listed}, indent=2)
