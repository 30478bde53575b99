"""Traffic of each probe over time: rates by outcome, latency from the intended time, errors by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from chaosk.report.axis import Axis, Floats, Longs
from chaosk.report.tables import NONE, Frame

OUTCOMES = ("ok", "fail", "info")

MOST_DUE = 8_000_000
"""Records whose due time is kept in memory for end-to-end latency, which is not drawn for longer runs."""

_PER_DECADE = 50
_LOWEST = -5.0
_BINS = 8 * _PER_DECADE + 2
_EDGES = 10.0 ** (_LOWEST + np.arange(_BINS + 1) / _PER_DECADE)


@dataclass(frozen=True, slots=True)
class LatencySeries:
    """Latency in seconds per bucket of a record's *due* time, so that it includes a stall; NaN without records.

    Percentiles are read off a histogram with 50 bins per decade, so they are accurate to 5 %; ``top`` is exact.
    """

    p50: Floats
    p99: Floats
    top: Floats


@dataclass(frozen=True, slots=True)
class Traffic:
    """One probe's traffic; every array has one number per bucket."""

    probe: str
    kind: str
    """``produce`` or ``consume``."""
    rates: dict[str, Floats]
    """Records per second by outcome: ok, fail, info."""
    latency: LatencySeries | None
    """Latency of acknowledged records, or end to end of delivered ones. None if unknown."""
    totals: dict[str, int]
    """Records by outcome."""


@dataclass(slots=True)
class _TrafficCounts:
    """Counters that one pass over the rows fills."""

    axis: Axis
    counts: dict[str, Longs] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    histogram: Longs = field(init=False)
    top: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.histogram = np.zeros((self.axis.buckets, _BINS), dtype=np.int64)
        self.top = np.full(self.axis.buckets, np.nan)

    def count(self, outcome: str, times: Longs) -> None:
        """Count records by the moment at which their outcome was known."""
        known = self.counts.setdefault(outcome, np.zeros(self.axis.buckets, dtype=np.int64))
        known += self.axis.count(times)
        self.totals[outcome] = self.totals.get(outcome, 0) + len(times)

    def wait(self, due: Longs, done: Longs) -> None:
        """Record the latency of records, by the moment at which they were due."""
        bucket = self.axis.bucket(due)
        shown = bucket >= 0
        seconds = np.maximum((done - due)[shown] / 1e9, 0.0)
        bins = np.clip((np.log10(np.maximum(seconds, 1e-9)) - _LOWEST) * _PER_DECADE, 0, _BINS - 1).astype(np.int64)
        np.add.at(self.histogram, (bucket[shown], bins), 1)
        np.fmax.at(self.top, bucket[shown], seconds)

    def traffic(self, probe: str, kind: str) -> Traffic:
        """Return the counted traffic."""
        rates = {name: counts / self.axis.width for name, counts in self.counts.items()}
        latency = (
            LatencySeries(self._percentile(0.50), self._percentile(0.99), self.top) if self.histogram.any() else None
        )
        return Traffic(probe, kind, rates, latency, self.totals)

    def _percentile(self, share: float) -> Floats:
        total = self.histogram.sum(axis=1)
        reached = self.histogram.cumsum(axis=1) >= np.ceil(total * share)[:, None]
        middle = np.sqrt(_EDGES[:-1] * _EDGES[1:])[reached.argmax(axis=1)]
        return np.where(total > 0, np.fmin(middle, self.top), np.nan)


def produced(batches: Iterable[Frame], axis: Axis) -> tuple[Traffic, ...]:
    """Return the traffic of each producer, from probe, scheduled, invoked, completed, outcome of ``sends``."""
    tallies: dict[str, _TrafficCounts] = {}
    for frame in batches:
        for probe, rows in frame.masks("probe"):
            _count_sends(tallies.setdefault(probe, _TrafficCounts(axis)), frame.where(rows))
    return tuple(tally.traffic(probe, "produce") for probe, tally in sorted(tallies.items()))


def _count_sends(tally: _TrafficCounts, frame: Frame) -> None:
    completed, invoked, due = frame.ints("completed"), frame.ints("invoked"), frame.ints("scheduled")
    known = np.where(completed == NONE, invoked, completed)  # a send without an end counts at its start
    for outcome, rows in frame.masks("outcome"):
        tally.count(outcome if outcome in OUTCOMES else "info", known[rows])
        if outcome == "ok":
            tally.wait(due[rows], known[rows])


def together(batches: Iterable[Frame], axis: Axis) -> Traffic | None:
    """Return the combined traffic of all producers, from the same columns without probe; None without sends."""
    tally = _TrafficCounts(axis)
    for frame in batches:
        _count_sends(tally, frame)
    return tally.traffic("", "produce") if tally.totals else None


Due = dict[tuple[str, int], Longs]
"""Due times by sequence number, for each producer and incarnation."""


def due_times(batches: Iterable[Frame]) -> Due:
    """Return the due times, from probe, incarnation, seq and scheduled of ``sends``; empty for huge runs."""
    due: Due = {}
    for frame in batches:
        incarnation, seq, scheduled = frame.ints("incarnation"), frame.ints("seq"), frame.ints("scheduled")
        for probe, mine in frame.masks("probe"):
            for number in np.unique(incarnation[mine]).tolist():
                rows = mine & (incarnation == number)
                _place(due, (probe, number), seq[rows], scheduled[rows])
        if sum(map(len, due.values())) > MOST_DUE:
            return {}
    return due


def _place(due: Due, key: tuple[str, int], seq: Longs, scheduled: Longs) -> None:
    known = due.get(key, np.empty(0, np.int64))
    need = min(int(seq.max()) + 1, 2 * MOST_DUE)
    if need > len(known):
        known = np.concatenate([known, np.full(max(need, 2 * len(known)) - len(known), NONE, dtype=np.int64)])
    inside = seq < len(known)
    known[seq[inside]] = scheduled[inside]
    due[key] = known


def consumed(batches: Iterable[Frame], axis: Axis, due: Due) -> tuple[Traffic, ...]:
    """Return the traffic of each consumer, from probe, at, producer, producer_incarnation and seq of ``reads``."""
    tallies: dict[str, _TrafficCounts] = {}
    for frame in batches:
        at, scheduled = frame.ints("at"), _due(frame, due)
        for probe, rows in frame.masks("probe"):
            tally = tallies.setdefault(probe, _TrafficCounts(axis))
            tally.count("ok", at[rows])
            known = rows & (scheduled != NONE)
            tally.wait(scheduled[known], at[known])
    return tuple(tally.traffic(probe, "consume") for probe, tally in sorted(tallies.items()))


def _due(frame: Frame, due: Due) -> Longs:
    """Return the due time of each row's record; ``NONE`` if unknown."""
    incarnation, seq = frame.ints("producer_incarnation"), frame.ints("seq")
    found = np.full(len(frame), NONE, dtype=np.int64)
    for producer, mine in frame.masks("producer"):
        for number in np.unique(incarnation[mine]).tolist():
            known = due.get((producer, number))
            if known is not None:
                rows = mine & (incarnation == number) & (seq >= 0) & (seq < len(known))
                found[rows] = known[seq[rows]]
    return found
