"""Windows of a run as Spark expressions: the windows of a time or of a stretch of time.

The windows' starts and ends divide a run into *segments*, numbered from 0. Spark finds the segment of a time in a few
comparisons, regardless of the number of windows. The windows of a segment are determined here, once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column, Row
from pyspark.sql import functions as F

from chaosk.analysis.case import TimeSpan

ALL = ""
"""Name of the window that contains every row, at any time."""


class Segments:
    """Segments of some windows."""

    columns = ("segment", "last_segment")
    """Columns with the first and last segment of a stretch of time."""

    def __init__(self, windows: Sequence[TimeSpan]) -> None:
        self._cuts = sorted({cut for span in windows for cut in (span.began, span.ended)})
        self._spans = [
            (span.name, bisect_left(self._cuts, span.began), bisect_left(self._cuts, span.ended)) for span in windows
        ]
        self._names: dict[tuple[int, int], tuple[str, ...]] = {}

    def of(self, began: Column, ended: Column | None = None) -> tuple[Column, Column]:
        """Return first and last segment of a stretch as columns. A time needs no end; null is in the last segment."""
        first, last = self.columns
        segment = self._of(began, 0, len(self._cuts))
        end = segment if ended is None else self._of(ended, 0, len(self._cuts))
        return segment.alias(first), end.alias(last)

    def at(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the segment of each time; a negative number stands for no time, and is in the last segment."""
        return np.where(times < 0, len(self._cuts), np.searchsorted(np.array(self._cuts, np.int64), times, "right"))

    def windows(self, row: Mapping[str, int] | Row) -> tuple[str, ...]:
        """Return the names of the windows that the stretch of a row with these columns overlaps."""
        first, last = (int(row[name]) for name in self.columns)
        return self.between(first, last)

    def between(self, first: int, last: int) -> tuple[str, ...]:
        """Return the names of the windows that a stretch from one segment to another overlaps."""
        if (first, last) not in self._names:
            self._names[first, last] = tuple(
                name for name, opens, closes in self._spans if last > opens and first <= closes
            )
        return self._names[first, last]

    def _of(self, time: Column, low: int, high: int) -> Column:
        """Count the cuts that are not after a time, if that is from ``low`` to ``high``, by bisection."""
        if low == high:
            return F.lit(low)
        middle = (low + high) // 2
        return F.when(time < self._cuts[middle], self._of(time, low, middle)).otherwise(
            self._of(time, middle + 1, high)
        )
