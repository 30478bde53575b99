"""The content of the console's screen, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from chaosk.run.display import Status
from chaosk.run.gameday.groups import Watched
from chaosk.run.gameday.operator import Open

Mode = Literal["keys", "note", "confirm"]


@dataclass(frozen=True, slots=True)
class ConsoleView:
    """One frame's content."""

    scenario: str
    operator: str
    status: Status
    asked: Open | None = None
    mode: Mode = "keys"
    typed: str = ""
    """Text of the note in progress."""
    scrolled: int = 0
    """Number of lines of a long question that are scrolled out at the top."""
    stopping: bool = False
    over: bool = False
    """True if the run is over, and only its report is still missing."""
    said: tuple[str, ...] = ()
    """The run's messages, the last at the end."""
    latencies: Mapping[str, float] = field(default_factory=dict)
    """The p99 over the last seconds by probe, in seconds."""
    groups: tuple[Watched, ...] = ()
