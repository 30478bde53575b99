"""The runbook in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from chaosk.report.markdown import rendered
from chaosk.report.runbook.content import Runbook


def markdown(books: Sequence[Runbook]) -> str:
    """Render all experiments, one after the other; every value is escaped."""
    return rendered("chaosk.report.runbook", "runbook.md.j2", {"books": books})
