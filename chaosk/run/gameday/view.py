"""All that the console shows, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from chaosk.run.display import Status
from chaosk.run.gameday.desk import Open
from chaosk.run.gameday.groups import Watched

Mode = Literal["keys", "note", "confirm"]


@dataclass(frozen=True, slots=True)
class View:
    """One look at a game day."""

    scenario: str
    operator: str
    status: Status
    asked: Open | None = None
    mode: Mode = "keys"
    typed: str = ""
    """Of a note that is being written."""
    scrolled: int = 0
    """Lines of a long question that are above the ones shown."""
    stopping: bool = False
    over: bool = False
    """Whether the run is over, and only its report is still to come."""
    said: tuple[str, ...] = ()
    """What the run said, the last at the end."""
    latencies: Mapping[str, float] = field(default_factory=dict)
    """By probe the p99 over the last seconds, in seconds."""
    groups: tuple[Watched, ...] = ()
