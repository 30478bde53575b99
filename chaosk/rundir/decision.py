"""Decisions and notes of a game day's operator."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from chaosk.core.model import Model

What = Literal["go", "skip", "note", "stop", "unanswered", "lost"]
"""``go`` or ``skip`` for an entry, a note, ``stop`` (heal and stop), or a stop for a missing answer or a lost operator.
"""

_WORDS = {
    "go": "go",
    "skip": "skip",
    "note": "note",
    "stop": "heal and stop",
    "unanswered": "no answer in time: heal and stop",
    "lost": "the operator's connection was lost: heal and stop",
}


class Decision(Model):
    """One decision or note of a game day. ``at`` is nanoseconds of the run's monotonic clock."""

    at: int
    wall: int
    """Wall clock at that time, nanoseconds since 1970."""
    who: str
    """The operator's name, as given or as logged in."""
    what: What
    entry: str | None = None
    """The timeline entry that the decision is about; None if there is none."""
    text: str | None = None
    """The note, or further details; None if there are none."""

    @property
    def says(self) -> str:
        """``what`` in words."""
        return _WORDS[self.what]

    @property
    def time(self) -> str:
        """Wall-clock time in UTC, like ``2026-11-25T09:30:12Z``."""
        return datetime.fromtimestamp(self.wall // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def sentence(self) -> str:
        """Return the whole decision as one line, like ``anna, 2026-11-25T09:30:12Z, kill: skip (not today)``."""
        about = f"{self.entry}: " if self.entry else ""
        return f"{self.who}, {self.time}, {about}{self.says}" + (f" ({self.text})" if self.text else "")
