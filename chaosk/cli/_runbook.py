"""``chaosk plan --runbook FILE``: the plan as a page to print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chaosk.core.errors import UsageError
from chaosk.core.files import replace
from chaosk.planning.preview import PreviewRow
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Scenario

_MARKDOWN, _HTML = (".md", ".markdown"), (".html", ".htm")


def refuse_name(path: Path) -> None:
    """Raise UsageError unless the file's suffix determines the format."""
    if path.suffix.lower() not in (*_MARKDOWN, *_HTML):
        raise UsageError(f"--runbook {path}: the suffix determines the format; use .md or .html")


def write_runbook(
    path: Path, cluster: tuple[Path | None, Inventory | None], told: Sequence[tuple[Scenario, tuple[PreviewRow, ...]]]
) -> None:
    """Write the runbook atomically; raises UsageError if that fails."""
    from chaosk.report.runbook.content import runbook  # noqa: PLC0415 - loading templates takes time, saved otherwise
    from chaosk.report.runbook.html import html  # noqa: PLC0415 - as above
    from chaosk.report.runbook.markdown import markdown  # noqa: PLC0415 - as above

    file, inventory = cluster
    books = [runbook(scenario, inventory, rows, str(file or "FILE")) for scenario, rows in told]
    replace(path, (html if path.suffix.lower() in _HTML else markdown)(books))
