"""What each probe did in each window of the run: counts and histograms of latency, collected in one job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import figures


class Key(NamedTuple):
    """Whose figure, what it counts, and when."""

    what: str
    """``ok``, ``fail`` or ``info`` (sends by outcome), ``read``, ``poll``, or ``received`` (first deliveries)."""
    probe: str
    window: str


@dataclass(frozen=True, slots=True)
class Histograms:
    """Counts by key, by process, and histograms of latency in nanoseconds."""

    counts: Counter[Key]
    processes: Counter[tuple[str, int]]
    """By probe and incarnation, rows of ``sends`` or ``reads`` in all."""
    buckets: dict[Key, dict[int, int]]
    """By key, bucket (its lower bound) and count."""
    longest: dict[Key, int]

    def quantile(self, key: Key, share: float) -> float | None:
        """Seconds that at least ``share`` of the values do not exceed, right to 0.1 %; None without values."""
        buckets = self.buckets.get(key)
        if not buckets:
            return None
        wanted = ceil(sum(buckets.values()) * share)
        for bucket, count in sorted(buckets.items()):
            wanted -= count
            if wanted <= 0:
                return bucket / 1e9
        return None

    def longest_of(self, key: Key) -> float | None:
        """The longest in seconds; None without values."""
        longest = self.longest.get(key)
        return None if longest is None else longest / 1e9


def histograms(events: Events) -> Histograms:
    """Collect them: a few hundred rows per probe and window."""
    found = Histograms(Counter(), Counter(), {}, {})
    for row in events.gathered(figures(events)).collect():
        key = Key(row["what"], row["probe"], row["window"])
        count = int(row["count"])
        found.counts[key] += count
        if row["window"] == "" and row["incarnation"] is not None and row["what"] != "poll":
            found.processes[row["probe"], row["incarnation"]] += count
        if row["bucket"] is not None:
            buckets = found.buckets.setdefault(key, {})
            buckets[row["bucket"]] = buckets.get(row["bucket"], 0) + count
            found.longest[key] = max(found.longest.get(key, 0), row["longest"])
    return found


def total(found: Histograms, whats: Iterable[str], probe: str, window: str) -> int:
    """The sum of several counts."""
    return sum(found.counts[Key(what, probe, window)] for what in whats)
