"""Outages as plain values, and their figures by window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.counts import measured
from chaosk.analysis.intervals import union as union_of
from chaosk.analysis.intervals import without
from chaosk.analysis.stillness import LEAST, stood_still
from chaosk.rundir.verdict import Measure


@dataclass(frozen=True, slots=True)
class Outage:
    """A stretch in which a probe had work on one partition without a success, in monotonic nanoseconds."""

    probe: str
    began: int
    ended: int
    censored: bool = False
    """True if it was still in progress at the end of the run."""


def unavailability(outages: Sequence[Outage], probes: Sequence[str], windows: Sequence[TimeSpan]) -> Iterable[Measure]:
    """Yield ``unavailability`` (the longest outage) and ``unavailable_total`` of each probe in each window.

    A whole outage counts in every window that it overlaps. The total is the time with an outage of at least one
    partition: simultaneous outages of several partitions count once.
    """
    for probe in probes:
        for window in windows:
            mine = [o for o in outages if o.probe == probe and o.began <= window.ended and window.began <= o.ended]
            longest = max((o.ended - o.began for o in mine), default=0)
            open_end = any(o.censored for o in mine)
            yield measured("unavailability", probe, window.name, longest / 1e9, censored=open_end)
            yield measured("unavailable_total", probe, window.name, union(mine) / 1e9, censored=open_end)


def awake(case: Case, outages: Iterable[Outage]) -> list[Outage]:
    """Return the outages without the time in which their probe itself stalled; parts of a second or more count."""
    found = []
    for outage in outages:
        asleep = union_of((span.began, span.ended) for span in stood_still(case, [outage.probe]))
        pieces = without([(outage.began, outage.ended)], asleep)
        whole = pieces == [(outage.began, outage.ended)]
        found += [
            replace(outage, began=began, ended=ended, censored=outage.censored and ended == outage.ended)
            for began, ended in pieces
            if whole or ended - began >= LEAST
        ]
    return found


def union(outages: Iterable[Outage]) -> int:
    """Return the nanoseconds covered by at least one of the outages."""
    total, reached = 0, -1
    for outage in sorted(outages, key=lambda o: o.began):
        total += max(0, outage.ended - max(outage.began, reached))
        reached = max(reached, outage.ended)
    return total
