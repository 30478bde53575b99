"""What somebody decided or noted while a run was under way: who, when, what."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from chaosk.core.model import Model

What = Literal["go", "skip", "note", "stop", "unanswered", "lost"]
"""Go ahead with an entry, skip it, a note, heal and stop, a question that nobody answered, an operator who was lost."""

_WORDS = {
    "go": "go",
    "skip": "skip",
    "note": "note",
    "stop": "heal and stop",
    "unanswered": "nobody answered in time: heal and stop",
    "lost": "the operator's connection was lost: heal and stop",
}


class Decision(Model):
    """One decision or note of a game day. ``at`` is nanoseconds of the run's monotonic clock."""

    at: int
    wall: int
    """The wall clock then, nanoseconds since 1970."""
    who: str
    """The operator's name, as given or as logged in."""
    what: What
    entry: str | None = None
    """The timeline entry that was asked about, if one was."""
    text: str | None = None
    """The note, or what else there is to say."""

    @property
    def says(self) -> str:
        """What, in words."""
        return _WORDS[self.what]

    @property
    def time(self) -> str:
        """When, by the wall clock, like ``2026-11-25T09:30:12Z``."""
        return datetime.fromtimestamp(self.wall // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def sentence(self) -> str:
        """All of it in a line, like ``anna, 2026-11-25T09:30:12Z, kill: skip (not today)``."""
        about = f"{self.entry}: " if self.entry else ""
        return f"{self.who}, {self.time}, {about}{self.says}" + (f" ({self.text})" if self.text else "")
