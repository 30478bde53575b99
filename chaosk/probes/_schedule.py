"""Due times of records, determined by the plan only, so that a stalled client cannot postpone its own deadlines."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

_NS = 1e9


@dataclass(frozen=True, slots=True)
class Schedule:
    """Record ``n`` (from 0) is due ``due(n)`` nanoseconds after the start; from ``rate`` it grows to ``to`` and stays.

    The number of records due until ``t`` is the rate's integral: ``rate * t`` without a ramp, and during a ramp of
    length ``over`` it is ``rate * t + (to - rate) * t**2 / (2 * over)``.
    """

    rate: float
    """Records per second at the start; at least one of ``rate`` and ``to`` is positive."""
    to: float
    """Records per second from the end of the ramp on."""
    over: float = 0.0
    """Length of the ramp in seconds."""
    _ramped: float = field(init=False, repr=False, compare=False)  # number of records due during the ramp

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ramped", self._integral(self.over))

    def due(self, n: int) -> int:
        """Return the nanoseconds after the start at which record ``n`` is due."""
        if n > self._ramped or not self.over:
            return round((self.over + (n - self._ramped) / self.to) * _NS)
        growth = (self.to - self.rate) / self.over
        root = math.sqrt(max(0.0, self.rate * self.rate + 2 * growth * n))
        return round(2 * n / (self.rate + root) * _NS) if n else 0

    def count(self, elapsed: int) -> int:
        """Return the number of records due ``elapsed`` nanoseconds after the start: with ``due(n) <= elapsed``."""
        if elapsed < 0:
            return 0
        n = max(0, int(self._integral(elapsed / _NS)))
        while self.due(n) <= elapsed:
            n += 1
        while n and self.due(n - 1) > elapsed:
            n -= 1
        return n

    def _integral(self, seconds: float) -> float:
        ramp = min(seconds, self.over)
        grown = (self.to - self.rate) * ramp * ramp / (2 * self.over) if self.over else 0.0
        return self.rate * ramp + grown + self.to * (seconds - ramp)
