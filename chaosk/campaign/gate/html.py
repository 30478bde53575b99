"""``gate.html``: one file that opens offline, runs no script and fetches nothing; the runs' reports are beside it."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

from jinja2 import Environment

from chaosk.campaign.gate.content import GateContent
from chaosk.report.pages import environment


def html(content: GateContent) -> str:
    """Return the page; every value is escaped."""
    return _environment().get_template("gate.html.j2").render(asdict(content))


@cache
def _environment() -> Environment:
    return environment("chaosk.campaign.gate")
