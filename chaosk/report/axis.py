"""The time axis that every plot of a report shares: seconds since the timeline's start, in few buckets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST = 600
"""Buckets at most, however long the run: a report stays small and quick."""
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 86400.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """Buckets of equal width over what a report shows. ``zero``, ``low`` and ``high`` are monotonic nanoseconds."""

    zero: int
    low: int
    high: int
    wall: int | None = None
    """The wall clock at ``zero``, nanoseconds since 1970, where there is one."""

    @property
    def width(self) -> float:
        """Seconds of one bucket: a round number, wide enough for ``MOST`` buckets and for a rate to be smooth."""
        span = max(self.high - self.low, 0) / 1e9
        return next((width for width in _WIDTHS if span / width <= MOST - 1), span / (MOST - 1))

    @property
    def first(self) -> int:
        """Number of the first bucket, counted from the one that starts at ``zero``."""
        return int(np.floor((self.low - self.zero) / 1e9 / self.width))

    @property
    def buckets(self) -> int:
        """How many buckets there are."""
        return int(np.floor((self.high - self.zero) / 1e9 / self.width)) - self.first + 1

    @property
    def edges(self) -> Floats:
        """The seconds at which buckets begin, and the end of the last one."""
        return np.asarray((np.arange(self.buckets + 1) + self.first) * self.width, dtype=np.float64)

    @property
    def limits(self) -> tuple[float, float]:
        """First and last second shown."""
        return self.seconds(self.low), self.seconds(self.high)

    def seconds(self, at: int) -> float:
        """Seconds since the timeline's start of a moment in monotonic nanoseconds."""
        return (at - self.zero) / 1e9

    def utc(self, second: float) -> str:
        """The time of day of a second since the timeline's start; empty where nobody knows it."""
        if self.wall is None:
            return ""
        at = datetime.fromtimestamp(self.wall // 10**9, tz=UTC) + timedelta(seconds=self.wall % 10**9 / 1e9 + second)
        whole = at.microsecond == 0 or self.width >= 1
        return at.strftime("%H:%M:%S" if whole else "%H:%M:%S.%f")[: 8 if whole else 10]

    def bucket(self, times: Longs) -> Longs:
        """The bucket of each moment; what lies outside is -1."""
        number = np.floor((times - self.zero) / 1e9 / self.width).astype(np.int64) - self.first
        return np.where((times >= self.low) & (number < self.buckets), number, -1)

    def count(self, times: Longs) -> Longs:
        """How many of the moments lie in each bucket."""
        number = self.bucket(times)
        return np.bincount(number[number >= 0], minlength=self.buckets).astype(np.int64)
