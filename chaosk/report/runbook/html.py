"""The runbook as a page to print: it opens offline, runs no script and fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence

from chaosk.report.pages import rendered
from chaosk.report.runbook.content import Runbook


def html(books: Sequence[Runbook]) -> str:
    """Render the page; every value is escaped."""
    return rendered("chaosk.report.runbook", "runbook.html.j2", {"books": books})
