"""``gate.html``: one file that opens offline, runs no script and fetches nothing; the runs' reports are beside it."""

from __future__ import annotations

from dataclasses import asdict

from chaosk.campaign.gate.content import GateContent
from chaosk.report.pages import rendered


def html(content: GateContent) -> str:
    """Return the page; every value is escaped."""
    return rendered("chaosk.campaign.gate", "gate.html.j2", asdict(content))
