"""When entries of a timeline are in place for sure, as far as the scenario alone can tell. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from chaosk.spec.scenario import Entry


@dataclass(frozen=True, slots=True)
class Stay:
    """From when to when an entry's fault is in place, seconds from the start of the timeline."""

    start: float
    end: float
    """The same as ``start`` for a step that leaves nothing; infinite for one that stays until the timeline ends."""

    def meets(self, later: Stay) -> bool:
        """Whether this one is still in place when ``later`` starts."""
        return self.start <= later.start < self.end or self.start == later.start


def stays(entries: Iterable[Entry | None]) -> dict[str, Stay]:
    """By name the entries that start at a known time: ``at``, or some time after another one of them was applied.

    What waits for a condition, or for a fault to be over, starts when that happens.
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
