"""The runbook as a page to print: it opens offline, runs no script and fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment

from chaosk.report.pages import environment
from chaosk.report.runbook.content import Runbook


def html(books: Sequence[Runbook]) -> str:
    """Render the page; every value is escaped."""
    return _environment().get_template("runbook.html.j2").render(books=books)


@cache
def _environment() -> Environment:
    return environment("chaosk.report.runbook")
