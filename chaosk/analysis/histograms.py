"""Counts and latency histograms of each probe by window of the run, collected in one job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import figures
from chaosk.analysis.must_fail_windows import afterwards
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


def histograms(events: Events) -> Histograms:
    """Collect some thousand rows per probe and window, as Arrow, because Spark is slow at single rows."""
    found = Histograms(Counter(), Counter(), {}, {})
    segments = Segments((*events.case.windows, *events.case.looks, *afterwards(events.case)))
    for row in events.gathered(figures(events)).toArrow().to_pylist():
        count = row["count"]
        if row["incarnation"] is not None and row["what"] != "call":
            process = (row["probe"], row["incarnation"])
            found.processes[process] += count
            if row["bucket"] is not None:
                found.latencies.setdefault(process, Counter())[row["what"], row["bucket"]] += count
            one = (row["what"], *process)
            found.first[one] = min(row["first"], found.first.get(one, row["first"]))
        for window in (ALL, *segments.windows(row)):
            tally(found, Key(row["what"], row["probe"], window), row["bucket"], count, row["longest"])
        if row["what"] == "ok":
            came = dict.fromkeys(Segments.columns, row["acknowledged_in"])
            for window in segments.windows(came):
                found.counts[Key("acknowledged", row["probe"], window)] += count
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
