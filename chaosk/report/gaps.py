"""Gaps: when a probe got nothing done on a partition although there was work, exact and in bounded memory.

The definition is D1 and D2 of the checks: between one completed record and the next, a second or more, with a send
outstanding (a producer) or records there to be read (a consumer). A fine grid keeps the first and the last completion
of each cell: two neighbours in time that are further apart than a cell lie in different ones, so no gap is missed and
none is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from chaosk.report.axis import Axis, Longs
from chaosk.report.changes import Place
from chaosk.report.tables import NONE, Frame

SHORTEST = 1_000_000_000
"""Nanoseconds from which on a gap counts."""
_CELLS = 1 << 13
_FAR = np.iinfo(np.int64).max

Source = tuple[str, Place]
"""A probe and the partition it wrote to or read from."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Nothing completed between two moments, monotonic nanoseconds."""

    probe: str
    kind: str
    """``produce`` or ``consume``."""
    place: Place
    begin: int
    end: int | None
    """None if nothing ever completed again."""

    def until(self, axis: Axis) -> int:
        """Its end, or the end of what the report shows."""
        return axis.high if self.end is None else self.end

    def seconds(self, axis: Axis) -> float:
        """How long it lasted, at least."""
        return (self.until(axis) - self.begin) / 1e9


class Grid:
    """First and last completion in each cell of a fine grid, by probe and partition."""

    def __init__(self, axis: Axis) -> None:
        self._axis = axis
        span = axis.high - axis.low
        self._cells = max(_CELLS, 2 * span // SHORTEST)  # a cell is never as long as the shortest gap
        self._cell = max(span // (self._cells - 1), 1)
        self._first: dict[Source, Longs] = {}
        self._last: dict[Source, Longs] = {}

    def add(self, source: Source, times: Longs) -> None:
        """Enter completions."""
        times = times[(times >= self._axis.low) & (times <= self._axis.high)]
        cells = (times - self._axis.low) // self._cell
        first = self._first.setdefault(source, np.full(self._cells, _FAR))
        last = self._last.setdefault(source, np.full(self._cells, NONE, dtype=np.int64))
        np.minimum.at(first, cells, times)
        np.maximum.at(last, cells, times)

    def sources(self) -> tuple[Source, ...]:
        """Every probe and partition entered."""
        return tuple(sorted(self._first))

    def gaps(self, source: Source) -> Iterator[tuple[int, int | None]]:
        """Every gap of a second or more after the first completion, and the open one at the end."""
        used = np.flatnonzero(self._last[source] != NONE)
        if not len(used):
            return
        last, following = self._last[source][used], self._first[source][used[1:]]
        for number in np.flatnonzero(following - last[:-1] >= SHORTEST):
            yield int(last[number]), int(following[number])
        if self._axis.high - last[-1] >= SHORTEST:
            yield int(last[-1]), None

    def any_between(self, place: Place, begin: int, end: int) -> bool:
        """Whether anybody completed a record on that partition after ``begin`` and before ``end``."""
        low, high = (begin - self._axis.low) // self._cell + 1, (end - self._axis.low) // self._cell
        return any((last[low:high] != NONE).any() for (_, where), last in self._last.items() if where == place)


def entered(batches: Iterable[Frame], axis: Axis, time: str) -> Grid:
    """A grid of what completed, from probe, topic, partition, the column ``time`` and, of ``sends``, outcome."""
    grid = Grid(axis)
    for frame in batches:
        for source, rows in by_source(frame):
            done = rows
            if time == "completed":
                done = _ok(rows)
            grid.add(source, done.ints(time))
    return grid


def _ok(frame: Frame) -> Frame:
    texts, codes = frame.names("outcome")
    return frame.where(codes == (texts.index("ok") if "ok" in texts else NONE - 1))


def by_source(frame: Frame) -> Iterator[tuple[Source, Frame]]:
    """The rows of a batch by probe and partition; those without a partition are left out."""
    probes, probe = frame.names("probe")
    topics, topic = frame.names("topic")
    keys = np.stack([probe, topic, frame.ints("partition")])
    order = np.lexsort(keys[::-1])
    keys = keys[:, order]
    rows = frame.batch.take(order)
    starts = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(frame)], strict=True):
        who, where, number = keys[:, start].tolist()
        if NONE not in (where, number):
            yield (probes[who], (topics[where], number)), Frame(rows.slice(start, stop - start))


def starved(written: Grid, read: Grid) -> tuple[Gap, ...]:
    """Gaps of consumers during which records were written to the partition they did not read."""
    found = []
    for probe, place in read.sources():
        for begin, end in read.gaps((probe, place)):
            if end is not None and written.any_between(place, begin, end - SHORTEST // 2):
                found.append(Gap(probe, "consume", place, begin, end))
    return tuple(found)


def waited(batches: Iterable[Frame], written: Grid, ends: Mapping[str, int]) -> tuple[Gap, ...]:
    """Gaps of producers that had sends outstanding, from probe, topic, partition, scheduled, completed of ``sends``.

    A gap begins no earlier than the first send that had to wait in it was due; ``ends`` says when each producer was
    done, so that silence after its end is none.
    """
    raw = {source: tuple(written.gaps(source)) for source in written.sources()}
    raw = {source: gaps for source, gaps in raw.items() if gaps}
    due: dict[tuple[Source, int], int] = {}
    for frame in batches if raw else ():
        for source, rows in by_source(frame):
            for begin, end in raw.get(source, ()):
                if (first := _first_waiting(rows, begin, end)) is not None:
                    due[source, begin] = min(first, due.get((source, begin), first))
    found = []
    for (probe, place), gaps in raw.items():
        for begin, end in gaps:
            first = due.get(((probe, place), begin))
            until = end if end is not None else ends.get(probe, 0)
            if first is not None and until - max(begin, first) >= SHORTEST:
                found.append(Gap(probe, "produce", place, max(begin, first), end))
    return tuple(found)


def _first_waiting(frame: Frame, begin: int, end: int | None) -> int | None:
    """When the first send that waited in a gap was due."""
    completed, due = frame.ints("completed"), frame.ints("scheduled")
    waits = (completed > begin) | (completed == NONE)
    if end is not None:
        waits &= due < end
    return int(due[waits].min()) if waits.any() else None
