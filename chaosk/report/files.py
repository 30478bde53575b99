"""The files of a report. Each replaces the one before as a whole, so that no reader meets half of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from chaosk.core import files
from chaosk.core.errors import UsageError
from chaosk.report.content import Content, content
from chaosk.report.html import html
from chaosk.report.junit import junit
from chaosk.report.markdown import markdown
from chaosk.rundir.paths import RunDir

FORMATS: dict[str, tuple[str, Callable[[Content], str]]] = {
    "html": ("html", html),
    "markdown": ("markdown", markdown),
    "junit": ("junit", lambda content: junit(content.verdict, content.identity)),
}
"""By name of the format: the path's name in :class:`RunDir`, and what makes the text."""


def write_all(run: RunDir, formats: Sequence[str] = tuple(FORMATS)) -> tuple[Path, ...]:
    """Write the report in some formats; the paths. Raises UsageError where there is no verdict or no room."""
    told = content(run)
    paths = []
    for name in formats:
        attribute, render = FORMATS[name]
        path: Path = getattr(run, attribute)
        replace(path, render(told))
        paths.append(path)
    return tuple(paths)


def replace(path: Path, text: str) -> None:
    """Write a file as a whole or not at all; raises UsageError where that cannot be."""
    try:
        files.replace(path, text)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot write the report: {error.strerror}; make room or fix the permissions"
        ) from error
