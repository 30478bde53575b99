"""Histograms of realtime lag (``chaosk.analysis.frames.lags``): by numpy where runs are glanced at, else by Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from chaosk.analysis.events import Events
from chaosk.analysis.frames.lags import NEVER, lags
from chaosk.analysis.glances.before import coded, first
from chaosk.analysis.glances.rows import EMPTY, Numbers, Rows
from chaosk.analysis.histograms import Histograms, Key, tally
from chaosk.analysis.windows import Segments
from chaosk.buckets import lower_bounds
from chaosk.buckets import numbers as buckets_of

WHAT = "lag"
"""What the keys of these histograms count."""
_TERM = ("probe", "incarnation", "topic", "partition", "assignment")
_TIME_BITS = 48
"""Bits of nanoseconds that a run takes: three days."""


def lags_of(events: Events) -> Histograms:
    """The histograms: one value for each poll and partition held, by probe and window."""
    return of_few(events.rows) if events.glances else of_many(events)


def of_many(events: Events) -> Histograms:
    """Those of a run of any size."""
    found, segments = Histograms(Counter(), Counter(), {}, {}), Segments(events.case.windows)
    for row in lags(events).toArrow().to_pylist():
        for window in segments.windows(row):
            tally(found, Key(WHAT, row["probe"], window), row["bucket"], row["count"], row["longest"])
    return found


def of_few(rows: Rows) -> Histograms:
    """Those of a run that is glanced at."""
    found = Histograms(Counter(), Counter(), {}, {})
    names = {rows.code("probe", probe): probe for probe, _ in rows.case.consumers}
    times: dict[str, list[Numbers]] = {probe: [] for probe in names.values()}
    values: dict[str, list[Numbers]] = {probe: [] for probe in names.values()}
    for code, asked, lag in _by_term(rows):
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


def _by_term(rows: Rows) -> Iterator[tuple[int, Numbers, Numbers]]:
    """Of each term with a known position the probe's code, when it polled, and how far behind it was then."""
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


def _marks(rows: Rows) -> tuple[Numbers, Numbers, Numbers]:
    """The terms of assignments and then of positions, and of the latter when and since when there was more."""
    changes = rows.count("assignments")
    members = ("probe", "incarnation", "topic", "partition")
    tables = ("assignments", "fetched", "reads")
    whole = coded(*(np.concatenate([rows.column(table, name) for table in tables]) for name in members))
    asks = rows.count("fetched")
    given, answered = rows.column("assignments", "at"), rows.column("fetched", "completed")
    numbers = np.full(asks, EMPTY)
    assigned = rows.column("assignments", "kind") == rows.code("kind", "assign")
    for place in np.argsort(given, kind="stable").tolist():  # few: how often anybody was given a partition
        if assigned[place]:
            later = (whole[changes : changes + asks] == whole[place]) & (answered >= given[place])
            numbers[later] = rows.column("assignments", "assignment")[place]
    terms = coded(
        whole, np.concatenate([rows.column("assignments", "assignment"), numbers, rows.column("reads", "assignment")])
    )
    known = (rows.column("fetched", "offset") >= 0) & (numbers != EMPTY)
    kept = np.concatenate([known, np.ones(rows.count("reads"), dtype=np.bool_)])
    places = np.concatenate([rows.places("fetched"), rows.places("reads")])[kept]
    positions = np.concatenate([rows.column("fetched", "offset"), rows.column("reads", "offset") + 1])[kept]
    at = np.concatenate([answered, rows.column("reads", "at")])[kept]
    return np.concatenate([terms[:changes], terms[changes:][kept]]), at, _since(rows, places, positions)


def _since(rows: Rows, places: Numbers, positions: Numbers) -> Numbers:
    """When a record at each position or beyond was first proven to be there; ``NEVER`` if that never was."""
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
