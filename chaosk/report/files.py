"""Files of a report, each replaced atomically."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from chaosk.core import files
from chaosk.report.content import ReportContent, content
from chaosk.report.html import html
from chaosk.report.junit import junit
from chaosk.report.markdown import markdown
from chaosk.rundir.paths import RunDir

FORMATS: dict[str, tuple[str, Callable[[ReportContent], str]]] = {
    "html": ("html", html),
    "markdown": ("markdown", markdown),
    "junit": ("junit", lambda content: junit(content.verdict, content.identity)),
}
"""By format: the path's name in :class:`RunDir`, and the function that renders the text."""


def write_all(run: RunDir, formats: Sequence[str] = tuple(FORMATS)) -> tuple[Path, ...]:
    """Write the report in some formats, and return the paths. Raises UsageError without a verdict or disk space."""
    told = content(run)
    paths = []
    for name in formats:
        attribute, render = FORMATS[name]
        path: Path = getattr(run, attribute)
        files.replace(path, render(told))
        paths.append(path)
    return tuple(paths)
