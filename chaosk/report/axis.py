"""The common time axis of a report's plots: seconds since the timeline's start, in few buckets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST = 600
"""Largest number of buckets, for any length of a run, so that a report stays small and fast."""
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 86400.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """Buckets of equal width over the shown period. ``zero``, ``low`` and ``high`` are monotonic nanoseconds."""

    zero: int
    low: int
    high: int
    wall: int | None = None
    """The wall clock at ``zero``, nanoseconds since 1970, if known."""

    @property
    def width(self) -> float:
        """Width of a bucket in seconds: a round number, wide enough for ``MOST`` buckets and a smooth rate."""
        span = max(self.high - self.low, 0) / 1e9
        return next((width for width in _WIDTHS if span / width <= MOST - 1), span / (MOST - 1))

    @property
    def first(self) -> int:
        """Number of the first bucket, counted from the one that starts at ``zero``."""
        return int(np.floor((self.low - self.zero) / 1e9 / self.width))

    @property
    def buckets(self) -> int:
        """Number of buckets."""
        return int(np.floor((self.high - self.zero) / 1e9 / self.width)) - self.first + 1

    @property
    def edges(self) -> Floats:
        """Start of each bucket in seconds, and the end of the last one."""
        return np.asarray((np.arange(self.buckets + 1) + self.first) * self.width, dtype=np.float64)

    @property
    def limits(self) -> tuple[float, float]:
        """First and last second shown."""
        return self.seconds(self.low), self.seconds(self.high)

    def seconds(self, at: int) -> float:
        """Convert a moment in monotonic nanoseconds to seconds since the timeline's start."""
        return (at - self.zero) / 1e9

    def utc(self, second: float) -> str:
        """Convert a second since the timeline's start to a UTC time of day; empty if unknown."""
        if self.wall is None:
            return ""
        at = datetime.fromtimestamp(self.wall // 10**9, tz=UTC) + timedelta(seconds=self.wall % 10**9 / 1e9 + second)
        whole = at.microsecond == 0 or self.width >= 1
        return at.strftime("%H:%M:%S" if whole else "%H:%M:%S.%f")[: 8 if whole else 10]

    def bucket(self, times: Longs) -> Longs:
        """Return the bucket of each moment; -1 for moments outside."""
        number = np.floor((times - self.zero) / 1e9 / self.width).astype(np.int64) - self.first
        return np.where((times >= self.low) & (number < self.buckets), number, -1)

    def count(self, times: Longs) -> Longs:
        """Count the moments in each bucket."""
        number = self.bucket(times)
        return np.bincount(number[number >= 0], minlength=self.buckets).astype(np.int64)
