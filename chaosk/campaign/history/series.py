"""Acknowledged records a second, and latencies, of several runs on one time axis.

The verdict has figures but no series. So they are counted from the events, like a report's plots: in at most some
hundred buckets, batch by batch. See docs/decisions/series.md for the reasons not to use Spark here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chaosk.campaign.history.stored_run import StoredRun
from chaosk.report.axis import Axis, Floats
from chaosk.report.source import Source
from chaosk.report.tables import Frame, UnreadableTable, frames
from chaosk.report.timeline import axis_of
from chaosk.report.traffic import together

MOST_ROWS = 1_000_000_000
"""Maximum number of sends of one run."""
_BEFORE = 600
"""Maximum number of seconds shown before the timeline's start."""
_COLUMNS = ("scheduled", "invoked", "completed", "outcome")


@dataclass(frozen=True, slots=True)
class Series:
    """The series of one run, a number for each bucket of ``axis``; NaN before its start and after its end."""

    axis: Axis
    """Axis on this run's clock; its buckets match those of the other runs, counted from the timeline's start."""
    ends: float
    """The last second of the run."""
    acknowledged: Floats
    """Records a second, of all producers together."""
    latency_p99: Floats
    """Seconds from due to acknowledged, by when the record was due; NaN if none was."""


def series(runs: Sequence[StoredRun], notes: list[str]) -> list[Series | None]:
    """Return each run's series; None, and a note, if its events cannot be read or have no sends."""
    own = [axis_of(Source(one.run, one.verdict, one.plan, {}, {})) for one in runs]
    before = min(max(axis.zero - axis.low for axis in own), _BEFORE * 1_000_000_000)
    after = max(axis.high - axis.zero for axis in own)
    shared = [Axis(axis.zero, axis.zero - before, axis.zero + after) for axis in own]
    return [_of(one, mine, all_of, notes) for one, mine, all_of in zip(runs, own, shared, strict=True)]


def _of(one: StoredRun, own: Axis, shared: Axis, notes: list[str]) -> Series | None:
    try:
        told = together(_bounded(frames(one.run, "sends", *_COLUMNS)), shared)
    except UnreadableTable as error:
        notes.append(f"{one.run.root}: {error}; it is not drawn")
        return None
    if told is None:
        notes.append(f"{one.run.root}: there are no sends in its events; it is not drawn")
        return None
    begin, end = own.limits
    inside = (shared.edges[1:] > begin) & (shared.edges[:-1] < end)
    nothing = np.zeros(shared.buckets)
    slow = nothing * np.nan if told.latency is None else told.latency.p99
    return Series(
        axis=shared,
        ends=end,
        acknowledged=np.where(inside, told.rates.get("ok", nothing), np.nan),
        latency_p99=np.where(inside, slow, np.nan),
    )


def _bounded(batches: Iterable[Frame]) -> Iterator[Frame]:
    rows = 0
    for frame in batches:
        rows += len(frame)
        if rows > MOST_ROWS:
            raise UnreadableTable(f"events/sends.parquet has more than {MOST_ROWS:,} rows")
        yield frame
