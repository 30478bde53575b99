"""Counts and latency histograms of each probe by window of the run, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from chaosk.analysis.windows import ALL, Segments


class Key(NamedTuple):
    """Identifies a figure: outcome or event, probe and window."""

    what: str
    """``ok``, ``fail`` or ``info`` (sends by outcome), ``read``, ``call`` and others (see ``frames.figures``).

    ``acknowledged``: sends with outcome ``ok``, by the time of that outcome.
    """
    probe: str
    window: str


@dataclass(frozen=True, slots=True)
class Histograms:
    """Counts by key and by process, and histograms of latency in nanoseconds."""

    counts: Counter[Key]
    processes: Counter[tuple[str, int]]
    """Total rows of ``sends``, ``reads``, ``health_checks`` or ``calls`` by probe and incarnation."""
    buckets: dict[Key, dict[int, int]]
    """Count by key and bucket (its lower bound)."""
    longest: dict[Key, int]
    latencies: dict[tuple[str, int], Counter[tuple[str, int]]] = field(default_factory=dict)
    """Sends with a known outcome by probe and incarnation, and then by outcome and bucket."""
    first: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Time of the first one by what, probe and incarnation; for events with a due time, that of the first."""

    def quantile(self, key: Key, share: float) -> float | None:
        """Return the seconds that at least ``share`` of the values do not exceed, to 0.1 %; None without values."""
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
        """Return the longest in seconds; None without values."""
        longest = self.longest.get(key)
        return None if longest is None else longest / 1e9


class Waiting(NamedTuple):
    """What did not succeed, with the time that it waited: the latency that it would have had is longer."""

    found: Histograms
    keys: tuple[Key, ...]

    @property
    def buckets(self) -> Counter[int]:
        """Count by bucket of the time waited."""
        together = Counter[int]()
        for key in self.keys:
            together.update(self.found.buckets.get(key, {}))
        return together

    @property
    def longest(self) -> float | None:
        """The longest in seconds; None without any."""
        return max((one for key in self.keys if (one := self.found.longest_of(key)) is not None), default=None)


def bounded_quantile(found: Histograms, key: Key, waiting: Waiting, share: float) -> tuple[float | None, bool]:
    """Return a quantile of latencies in seconds, and True if it is a lower bound.

    What did not succeed counts as slower than all that did. If the quantile is among it, the latency is at least what
    as large a share of all took or waited.
    """
    took, waited = Counter(found.buckets.get(key, {})), waiting.buckets
    wanted = ceil((took.total() + waited.total()) * share)
    censored = wanted > took.total()
    for bucket, count in sorted((took + waited if censored else took).items()):
        wanted -= count
        if wanted <= 0:
            return bucket / 1e9, censored
    return None, False


def bounded_longest(found: Histograms, key: Key, waiting: Waiting) -> tuple[float | None, bool]:
    """Return the longest latency in seconds, and True if it is a lower bound: something did not succeed."""
    times = [one for one in (found.longest_of(key), waiting.longest) if one is not None]
    return max(times, default=None), waiting.longest is not None


@dataclass(frozen=True, slots=True)
class Activity:
    """Rows of a run that are the same as far as their count by window and their histograms are concerned."""

    what: str
    probe: str
    incarnation: int | None
    segment: int
    last_segment: int
    acknowledged_in: int | None
    """Segment of the acknowledgement, of what was acknowledged."""
    bucket: int | None
    """Lower bound of the bucket of their latency in nanoseconds; None if they have none."""
    count: int
    longest: int | None
    """Highest of their latencies in nanoseconds."""
    first: int
    """Time of the earliest: of its result, else of itself."""


def collected(activities: Iterable[Activity], segments: Segments) -> Histograms:
    """Add up activities by window; pure."""
    found = Histograms(Counter(), Counter(), {}, {})
    for row in activities:
        if row.incarnation is not None and row.what != "call":
            process = (row.probe, row.incarnation)
            found.processes[process] += row.count
            if row.bucket is not None:
                found.latencies.setdefault(process, Counter())[row.what, row.bucket] += row.count
            whose = (row.what, *process)
            found.first[whose] = min(row.first, found.first.get(whose, row.first))
        for window in (ALL, *segments.between(row.segment, row.last_segment)):
            tally(found, Key(row.what, row.probe, window), row.bucket, row.count, row.longest)
        if row.what == "ok" and row.acknowledged_in is not None:
            for window in segments.between(row.acknowledged_in, row.acknowledged_in):
                found.counts[Key("acknowledged", row.probe, window)] += row.count
    return found


def tally(found: Histograms, key: Key, bucket: int | None, count: int, longest: int | None) -> None:
    """Add ``count`` values to a bucket."""
    found.counts[key] += count
    if bucket is not None:
        buckets = found.buckets.setdefault(key, {})
        buckets[bucket] = buckets.get(bucket, 0) + count
        found.longest[key] = max(found.longest.get(key, 0), longest or 0)


def total(found: Histograms, whats: Iterable[str], probe: str, window: str) -> int:
    """Sum several counts."""
    return sum(found.counts[Key(what, probe, window)] for what in whats)
