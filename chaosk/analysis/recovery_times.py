"""Time of recovery, from cells of 0.25 s: pure Python over a few thousand small values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

HOLD = 3_000_000_000
"""Nanoseconds without a problem that count as recovered."""
SHARE = 0.99
"""Share of the records due in that time that must be prompt."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Promptness by stream and cell, and the cells in which a partition lacked replicas."""

    size: int
    """Nanoseconds of one cell."""
    promptness: Mapping[str, Mapping[int, tuple[int, int]]]
    """Number of records due and of prompt ones, by stream and cell."""
    short: AbstractSet[int]

    def well(self, start: int) -> bool:
        """Return True if from ``start`` on, for ``HOLD``, all streams were prompt and no partition lacked replicas."""
        span = range(start, start + HOLD // self.size)
        if any(cell in self.short for cell in span):
            return False
        sums = [_sum(cells, span) for cells in self.promptness.values()]
        asked = [(wanted, prompt) for wanted, prompt in sums if wanted]
        return bool(asked) and all(prompt >= SHARE * wanted for wanted, prompt in asked)


def _sum(cells: Mapping[int, tuple[int, int]], span: Iterable[int]) -> tuple[int, int]:
    found = [cells[cell] for cell in span if cell in cells]
    return sum(wanted for wanted, _ in found), sum(prompt for _, prompt in found)


def first_well(cells: Cells, after: int, until: int) -> int | None:
    """Return the first time from ``after`` on that begins a healthy stretch of ``HOLD`` ending before ``until``.

    None if there is none. The result is accurate to one cell.
    """
    start = after // cells.size
    last = (until - HOLD) // cells.size
    for cell in range(start, last + 1):
        if cells.well(cell):
            return max(after, cell * cells.size)
    return None


def grouped(rows: Sequence[tuple[str, int, int, int]]) -> dict[str, dict[int, tuple[int, int]]]:
    """Group rows of stream, cell, wanted and prompt by stream and cell."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for stream, cell, wanted, prompt in rows:
        found.setdefault(stream, {})[int(cell)] = (int(wanted), int(prompt))
    return found
