"""Times at which timeline entries are surely in place, as far as the scenario alone determines them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from chaosk.spec.scenario import Entry


@dataclass(frozen=True, slots=True)
class Stay:
    """The period in which an entry's fault is in place, in seconds from the start of the timeline."""

    start: float
    end: float
    """Equal to ``start`` for a step that leaves nothing to undo; infinite if it stays until the timeline ends."""

    def meets(self, later: Stay) -> bool:
        """Return True if this one is still in place when ``later`` starts."""
        return self.start <= later.start < self.end or self.start == later.start


def stays(entries: Iterable[Entry | None]) -> dict[str, Stay]:
    """Map the entries with a known start to their periods: with ``at``, or after another such entry was applied.

    The start of an entry that waits for a condition, or for a fault to end, is unknown.
    """
    found: dict[str, Stay] = {}
    for entry in entries:
        start = None if entry is None else _start(entry, found)
        if entry is not None and start is not None:
            found[entry.name] = Stay(start, start + _lasts(entry))
    return found


def _start(entry: Entry, known: dict[str, Stay]) -> float | None:
    if entry.when is not None:
        return None
    if entry.after is None:
        return entry.at
    other = known.get(entry.after.entry)
    return other.start + entry.after.delay if other is not None and entry.after.is_ == "applied" else None


def _lasts(entry: Entry) -> float:
    if not entry.step.lasting:
        return 0.0
    return math.inf if entry.lasts is None else entry.lasts
