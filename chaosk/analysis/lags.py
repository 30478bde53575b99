"""Histograms of realtime lag (``chaosk.analysis.frames.lags``), with numpy for small runs, else with Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chaosk.analysis.events import Events
from chaosk.analysis.frames.lags import NEVER, lags
from chaosk.analysis.glances.before import coded, first
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.histograms import Histograms, Key, tally
from chaosk.analysis.readers import at_the_end
from chaosk.analysis.windows import Segments
from chaosk.rundir.events.buckets import lower_bounds
from chaosk.rundir.events.buckets import numbers as buckets_of

WHAT = "lag"
"""Kind of figure in the keys of these histograms."""
_TERM = ("probe", "incarnation", "topic", "partition", "assignment")
_TIME_BITS = 48
"""Bits for the nanoseconds of a run: three days."""


def lags_of(events: Events) -> Histograms:
    """Return the histograms by probe and window, with one value per poll and owned partition."""
    return of_few(events.rows) if events.glances else of_many(events)


def of_many(events: Events) -> Histograms:
    """Compute them for a run of any size, with Spark."""
    found, segments = Histograms(Counter(), Counter(), {}, {}), Segments(events.case.windows)
    for row in lags(events).toArrow().to_pylist():
        for window in segments.windows(row):
            tally(found, Key(WHAT, row["probe"], window), row["bucket"], row["count"], row["longest"])
    return found


def of_few(rows: EventRows) -> Histograms:
    """Compute them for a small run, without Spark."""
    found = Histograms(Counter(), Counter(), {}, {})
    names = {rows.code("probe", probe): probe for probe, _ in rows.case.consumers}
    times: dict[str, list[Numbers]] = {probe: [] for probe in names.values()}
    values: dict[str, list[Numbers]] = {probe: [] for probe in names.values()}
    for code, asked, lag in _by_term(rows):
        if code in names:  # not that of a process without a row of its start
            times[names[code]].append(asked)
            values[names[code]].append(lag)
    for probe in names.values():
        if not times[probe]:
            continue
        when, lag = np.concatenate(times[probe]), np.concatenate(values[probe])
        for window in rows.case.windows:
            inside = lag[(when >= window.began) & (when < window.ended)]
            buckets, counts = np.unique(lower_bounds(buckets_of(inside)), return_counts=True)
            for bucket, count in zip(buckets.tolist(), counts.tolist(), strict=True):
                tally(found, Key(WHAT, probe, window.name), bucket, count, int(inside.max()))
    return found


def _by_term(rows: EventRows) -> Iterator[tuple[int, Numbers, Numbers]]:
    """Yield for each term with a known position the probe's code, the times of its polls, and the lag at each."""
    gives = rows.column("assignments", "kind") == rows.code("kind", "assign")
    marks, at, since = _marks(rows)
    process = rows.processes("polls")
    polled = rows.column("polls", "invoked")
    by_process = {who: np.sort(polled[process == who]) for who in np.unique(process).tolist()}
    terms = marks[: len(gives)]
    owners = rows.processes("assignments")
    for place in np.flatnonzero(gives).tolist():
        given = int(rows.column("assignments", "at")[place])
        taken = rows.column("assignments", "at")[(terms == terms[place]) & ~gives]
        mine = marks[len(gives) :] == terms[place]
        if not mine.any():
            continue
        polls = by_process.get(int(owners[place]), np.empty(0, dtype=np.int64))
        polls = polls[(polls >= given) & (polls < taken.min(initial=NEVER))]
        order = np.argsort(at[mine], kind="stable")
        ahead = np.maximum.accumulate(since[mine][order])
        known = np.searchsorted(at[mine][order], polls, side="right") - 1
        polls, known = polls[known >= 0], known[known >= 0]
        yield int(rows.column("assignments", "probe")[place]), polls, np.maximum(polls - ahead[known], 0)


def _marks(rows: EventRows) -> tuple[Numbers, Numbers, Numbers]:
    """Return the terms of assignments and positions, and for each position its time and when more records existed."""
    begun = _begun(rows)
    changes, asks = rows.count("assignments"), len(begun.at)
    members = ("probe", "incarnation", "topic", "partition")
    columns = (
        np.concatenate((rows.column("assignments", name), mine, rows.column("reads", name)))
        for name, mine in zip(members, begun.members, strict=True)
    )
    whole = coded(*columns)
    given = rows.column("assignments", "at")
    numbers = np.full(asks, EMPTY)
    assigned = rows.column("assignments", "kind") == rows.code("kind", "assign")
    for place in np.argsort(given, kind="stable").tolist():  # few: the number of assignments
        if assigned[place]:
            later = (whole[changes : changes + asks] == whole[place]) & (begun.at >= given[place])
            numbers[later] = rows.column("assignments", "assignment")[place]
    terms = coded(
        whole, np.concatenate([rows.column("assignments", "assignment"), numbers, rows.column("reads", "assignment")])
    )
    known = (begun.positions != EMPTY) & (numbers != EMPTY)
    kept = np.concatenate([known, np.ones(rows.count("reads"), dtype=np.bool_)])
    places = np.concatenate([begun.places, rows.places("reads")])[kept]
    positions = np.concatenate([begun.positions, rows.column("reads", "offset") + 1])[kept]
    at = np.concatenate([begun.at, rows.column("reads", "at")])[kept]
    return np.concatenate([terms[:changes], terms[changes:][kept]]), at, _since(rows, places, positions)


@dataclass(frozen=True, slots=True)
class _Begun:
    """Positions that members began at, or sought: probe, incarnation, topic, partition; place, time, position."""

    members: tuple[Numbers, Numbers, Numbers, Numbers]
    places: Numbers
    at: Numbers
    positions: Numbers


def _begun(rows: EventRows) -> _Begun:
    late = [rows.code("probe", name) for name in sorted(at_the_end(rows.case))]
    found = rows.column("fetched", "offset")
    found = np.where((found == EMPTY) & ~np.isin(rows.column("fetched", "probe"), late), 0, found)
    alone = (rows.column("assignments", "group") == EMPTY) & ~np.isin(rows.column("assignments", "probe"), late)
    alone &= rows.column("assignments", "kind") == rows.code("kind", "assign")

    def all_of(name: str) -> Numbers:
        return np.concatenate(
            (rows.column("fetched", name), rows.column("seeks", name), rows.column("assignments", name)[alone])
        )

    times = (rows.column("fetched", "completed"), rows.column("seeks", "at"), rows.column("assignments", "at")[alone])
    return _Begun(
        members=(all_of("probe"), all_of("incarnation"), all_of("topic"), all_of("partition")),
        places=np.concatenate((rows.places("fetched"), rows.places("seeks"), rows.places("assignments")[alone])),
        at=np.concatenate(times),
        positions=np.concatenate((found, rows.column("seeks", "offset"), np.zeros(int(alone.sum()), np.int64))),
    )


def _since(rows: EventRows, places: Numbers, positions: Numbers) -> Numbers:
    """Return when a record at each position or beyond was first proven to exist; ``NEVER`` if there was none."""
    acked = (rows.column("sends", "outcome") == rows.code("outcome", "ok")) & (rows.column("sends", "offset") >= 0)
    where = np.concatenate([places, rows.places("sends")[acked], rows.places("reads")])
    offsets = np.concatenate([positions, rows.column("sends", "offset")[acked], rows.column("reads", "offset")])
    proofs = np.concatenate([rows.column("sends", "completed")[acked], rows.column("reads", "at")])
    origin = int(proofs.min(initial=NEVER))
    late = 1 << _TIME_BITS
    times = np.concatenate([np.full(len(places), late), proofs - origin])
    order = np.lexsort((times, -offsets, where))
    ranks = np.cumsum(first(where[order])) << (_TIME_BITS + 1)
    earliest = np.empty(len(where), dtype=np.int64)
    earliest[order] = np.minimum.accumulate(times[order] - ranks) + ranks
    return np.where(earliest >= late, NEVER, earliest + origin)[: len(places)]
