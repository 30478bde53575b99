"""Problems of a file, each with its place, collected until all are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from chaosk.core.errors import UsageError

_MOST = 50
"""Printed problems; more of them usually have one cause."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in a file."""

    file: str
    line: int
    """From 1."""
    column: int
    """From 1, in characters."""
    path: str
    """Path in the document, like ``timeline[0].kill_broker.target``; empty for the document itself."""
    what: str
    """The mistake and its remedy."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}:"
        return _shown(f"{where} {self.path}: {self.what}" if self.path else f"{where} {self.what}")


class DocumentError(UsageError):
    """All mistakes of one file; its message has a line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep ``problems`` in the order of the file, without duplicates."""
        self.problems = tuple(sorted(set(problems)))
        lines = [str(problem) for problem in self.problems[:_MOST]]
        if len(self.problems) > _MOST:
            lines.append(f"… and {len(self.problems) - _MOST} more; fix these first")
        super().__init__("\n".join(lines))


def _shown(text: str) -> str:
    """Return the text on one line, with control and invisible characters escaped: names come from the file."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def unreadable(path: Path, error: OSError) -> DocumentError:
    """The error for a file that cannot be read at all."""
    why = (error.strerror or str(error)).lower()
    return DocumentError([Problem(str(path), 1, 1, "", f"cannot be read: {why}; name a file that you may read")])
