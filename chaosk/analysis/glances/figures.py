"""Counts and latency histograms of each probe by window, with numpy; ``frames.figures`` does the same with Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chaosk.analysis.glances.before import Marks, first
from chaosk.analysis.glances.first_deliveries import first_deliveries
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.histograms import Activity, Histograms, collected
from chaosk.analysis.must_fail_windows import afterwards
from chaosk.analysis.windows import Segments
from chaosk.rundir.events.buckets import lower_bounds
from chaosk.rundir.events.buckets import numbers as buckets_of

_OUTCOMES = ("ok", "fail", "info")


@dataclass(frozen=True, slots=True)
class _Happenings:
    """Rows of one table by what they are: arrays of one length."""

    what: Numbers
    """Index into ``names``."""
    names: tuple[str, ...]
    probe: Numbers
    incarnation: Numbers
    """``EMPTY`` if it does not matter."""
    when: Numbers
    until: Numbers
    came: Numbers
    """Time of the result; ``EMPTY`` if that is ``when``."""
    latency: Numbers
    has_latency: Marks


def histograms(rows: EventRows) -> Histograms:
    """Return them for all probes of a run."""
    segments = Segments((*rows.case.windows, *rows.case.looks, *afterwards(rows.case)))
    tables = (_sends(rows), *_calls(rows), _reads(rows), _received(rows), _health_checks(rows), _answered(rows))
    return collected((activity for table in tables for activity in _activities(rows, table, segments)), segments)


def _sends(rows: EventRows) -> _Happenings:
    outcome, due, done = rows.columns("sends", "outcome", "scheduled", "completed")
    what = np.full(len(outcome), EMPTY)
    for number, name in enumerate(_OUTCOMES):
        what[outcome == rows.code("outcome", name)] = number
    has = done != EMPTY
    return _Happenings(what, _OUTCOMES, *_who(rows, "sends"), due, due, done, np.where(has, done - due, 0), has)


def _calls(rows: EventRows) -> Iterator[_Happenings]:
    """Yield the requests to Kafka, as ``frames.figures.calls`` does."""
    kinds = [rows.code("kind", "sync"), rows.code("kind", "topic")]
    waited = np.isin(rows.column("commits", "kind"), kinds)
    for table, began, ended in (
        ("polls", "invoked", "completed"), ("fetched", "invoked", "completed"), ("commits", "invoked", "completed"),
        ("calls", "began", "completed"),
    ):  # fmt: skip
        chosen = waited if table == "commits" else np.ones(rows.count(table), np.bool_)
        invoked, until = (column[chosen] for column in rows.columns(table, began, ended))
        until = np.where(until == EMPTY, rows.case.record.ended, until)
        probe, incarnation = (column[chosen] for column in _who(rows, table))
        yield _untimed(np.zeros(len(invoked), np.int64), ("call",), probe, incarnation, invoked, until)


def _reads(rows: EventRows) -> _Happenings:
    at = rows.column("reads", "at")
    return _untimed(np.zeros(len(at), np.int64), ("read",), *_who(rows, "reads"), at, at)


def _received(rows: EventRows) -> _Happenings:
    """Return the first delivery of each value to each reader, by the time at which the record was due."""
    chosen = first_deliveries(rows)
    at, due, probe = (column[chosen] for column in rows.columns("reads", "at", "scheduled", "probe"))
    nothing, none = np.zeros(len(chosen), np.int64), np.full(len(chosen), EMPTY)
    return _Happenings(
        nothing, ("received",), probe, none, due, due, none, at - due, np.ones(len(chosen), np.bool_)
    )  # fmt: skip


def _health_checks(rows: EventRows) -> _Happenings:
    due = rows.column("health_checks", "due")
    bad = (rows.column("health_checks", "outcome") != rows.code("outcome", "ok")).astype(np.int64)
    return _untimed(bad, ("healthy", "unhealthy"), *_who(rows, "health_checks"), due, due)


def _answered(rows: EventRows) -> _Happenings:
    done = rows.column("calls", "completed")
    bad = (rows.column("calls", "outcome") != rows.code("outcome", "ok")).astype(np.int64)
    return _untimed(bad, ("answered", "unanswered"), *_who(rows, "calls"), done, done)


def _untimed(
    what: Numbers, names: tuple[str, ...], probe: Numbers, incarnation: Numbers, when: Numbers, until: Numbers
) -> _Happenings:
    none = np.full(len(when), EMPTY)
    return _Happenings(what, names, probe, incarnation, when, until, none, none, np.zeros(len(when), np.bool_))


def _who(rows: EventRows, table: str) -> tuple[Numbers, Numbers]:
    return rows.column(table, "probe"), rows.column(table, "incarnation")


def _activities(rows: EventRows, table: _Happenings, segments: Segments) -> Iterator[Activity]:
    """Yield the rows of a table by what, process, segments and bucket."""
    known = table.what != EMPTY
    bucket = np.where(table.has_latency, buckets_of(np.maximum(table.latency, 0)), EMPTY)
    ok = np.array([name == "ok" for name in table.names], np.bool_)[np.maximum(table.what, 0)]
    acknowledged = np.where(ok, segments.at(table.came), EMPTY)
    columns = (
        table.what, table.probe, table.incarnation, segments.at(table.when), segments.at(table.until), acknowledged,
        bucket,
    )  # fmt: skip
    whole = np.zeros(len(known), np.int64)
    for column in columns:
        whole = whole * (int(column.max(initial=EMPTY)) + 2) + column + 1
    whole = whole[known]
    if not whole.size:
        return
    order = np.argsort(whole, kind="stable")
    begins = np.flatnonzero(first(whole[order]))
    counts = np.diff(begins, append=len(whole))
    longest = np.maximum.reduceat(np.where(table.has_latency, table.latency, 0)[known][order], begins)
    earliest = np.minimum.reduceat(np.where(table.came == EMPTY, table.when, table.came)[known][order], begins)
    keys = (column[known][order][begins].tolist() for column in columns)
    shown = lower_bounds(np.maximum(bucket, 0))[known][order][begins].tolist()
    for what, probe, incarnation, segment, last, came_in, number, count, most, least, lower in zip(
        *keys, counts.tolist(), longest.tolist(), earliest.tolist(), shown, strict=True
    ):
        yield Activity(
            what=table.names[what],
            probe=rows.word("probe", probe) or "",
            incarnation=None if incarnation == EMPTY else incarnation,
            segment=segment,
            last_segment=last,
            acknowledged_in=None if came_in == EMPTY else came_in,
            bucket=None if number == EMPTY else lower,
            count=count,
            longest=None if number == EMPTY else most,
            first=least,
        )
