"""Outages: gaps without progress of producers and consumers although there was work to do.

``produce_outages`` and ``consume_outages`` return them as rows of evidence, a few per fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaosk.analysis.frames.gaps import SHORTEST
from chaosk.analysis.glances.before import Marks, first
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.glances.written import written

_TIMES_BASELINE = 10
_SHARE = 0.99
_SETTLING = 1_000_000_000
"""Nanoseconds after its assignment in which a reader may not have its position yet."""
_NEVER = 2**62
_BITS = 40
"""Bits of a partition's number in a packed key."""


def produce_outages(rows: EventRows) -> list[dict[str, Any]]:
    """Return stretches in which a producer's process had sends waiting for a partition and none was acknowledged.

    Keys: producer, producer_incarnation, topic, partition, began, ended, censored (still in progress at the process's
    last outcome), failed and uncertain (sends with that outcome during it), errors.
    """
    ordinary = _ordinary(rows)
    found = []
    for writer in _writers(rows):
        threshold = max(SHORTEST, ordinary.get(writer.producer, 0) * _TIMES_BASELINE)
        for opened, closed, censored in writer.gaps():
            waiting = writer.waiting(opened, closed)
            if waiting is not None and closed - (began := max(opened, waiting.due)) >= threshold:
                found.append(writer.named(rows) | waiting.told(rows) | {
                    "began": began, "ended": closed, "censored": censored,
                })  # fmt: skip
    return found


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Sends that waited in a gap."""

    due: int
    failed: int
    uncertain: int
    errors: tuple[int, ...]

    def told(self, rows: EventRows) -> dict[str, Any]:
        words = sorted(rows.word("error", code) or "" for code in self.errors)
        return {"failed": self.failed, "uncertain": self.uncertain, "errors": ", ".join(words)}


@dataclass(frozen=True, slots=True)
class _Attempts:
    """Sends of one process to one topic that were not acknowledged, or whose partition is unknown."""

    partition: Numbers
    over: Numbers
    due: Numbers
    failed: Marks
    uncertain: Marks
    error: Numbers
    acknowledged: Marks
    told: Numbers
    """Time of the outcome, else the due time."""


@dataclass(frozen=True, slots=True)
class _Writer:
    """The sends of one process to one partition."""

    producer: int
    incarnation: int
    topic: int
    partition: int
    completed: Numbers
    """Times of the acknowledgements, in order."""
    due: Numbers
    """Due time of each acknowledged send."""
    earliest: int
    """Due time of the first send with any outcome."""
    others: _Attempts

    def gaps(self) -> Iterator[tuple[int, int, bool]]:
        """Yield start and end of each stretch without an acknowledgement, and True if it is still in progress."""
        # The first send's due time counts as an acknowledgement, so that a slow start is a gap as well.
        marks = np.concatenate([[self.earliest], self.completed])
        for place in np.flatnonzero(np.diff(marks) >= SHORTEST).tolist():
            yield int(marks[place]), int(marks[place + 1]), False
        last, bad = int(marks[-1]), self._here() & ~self.others.acknowledged
        later = self.others.told[bad & (self.others.told > last)]
        if later.size and int(later.max()) - last >= SHORTEST:
            yield last, int(later.max()), True

    def waiting(self, opened: int, closed: int) -> _Waiting | None:
        """Return the sends that were due before its end and not over at its start; None without any."""
        over = self.due[np.searchsorted(self.completed, opened, "right") :]
        mine = self._here() & (self.others.over > opened) & (self.others.due < closed)
        due = np.concatenate([over[over < closed], self.others.due[mine]])
        if not due.size:
            return None
        errors = np.unique(self.others.error[mine])
        return _Waiting(
            int(due.min()), int(self.others.failed[mine].sum()), int(self.others.uncertain[mine].sum()),
            tuple(errors[errors != EMPTY].tolist()),
        )  # fmt: skip

    def named(self, rows: EventRows) -> dict[str, Any]:
        return {
            "producer": rows.word("probe", self.producer), "producer_incarnation": self.incarnation,
            "topic": rows.word("topic", self.topic), "partition": self.partition,
        }  # fmt: skip

    def _here(self) -> Marks:
        # A send that failed before the client chose a partition waited for any partition of its topic.
        here: Marks = (self.others.partition == EMPTY) | (self.others.partition == self.partition)
        return here


def _writers(rows: EventRows) -> Iterator[_Writer]:
    topic, partition, due, done, error = rows.columns("sends", "topic", "partition", "scheduled", "completed", "error")
    ok, fail, info = _outcomes(rows)
    streams = (rows.processes("sends") << 20) | topic
    keys = np.where(partition == EMPTY, EMPTY, partition)
    told = np.where(done == EMPTY, due, done)
    order = np.lexsort((told, keys, streams))
    starts = np.flatnonzero(first(streams[order]) | first(keys[order]))
    for mine in np.split(order, starts[1:]) if order.size else ():
        head = mine[0]
        if partition[head] == EMPTY:
            continue
        others = np.flatnonzero((streams == streams[head]) & (~ok | (partition == EMPTY)))
        acknowledged = mine[ok[mine]]
        yield _Writer(
            producer=int(rows.column("sends", "probe")[head]),
            incarnation=int(rows.column("sends", "incarnation")[head]),
            topic=int(topic[head]),
            partition=int(partition[head]),
            completed=told[acknowledged],
            due=due[acknowledged],
            earliest=int(due[mine].min()),
            others=_Attempts(
                partition=partition[others], over=np.where(done == EMPTY, _NEVER, done)[others], due=due[others],
                failed=fail[others], uncertain=info[others], error=error[others], acknowledged=ok[others],
                told=told[others],
            ),
        )  # fmt: skip


def _outcomes(rows: EventRows) -> tuple[Marks, Marks, Marks]:
    outcome = rows.column("sends", "outcome")
    ok, fail, info = (outcome == rows.code("outcome", word) for word in ("ok", "fail", "info"))
    return ok, fail, info


def _ordinary(rows: EventRows) -> dict[int, int]:
    """Return by producer the 99th percentile of the wait per acknowledgement of a partition in the baseline.

    The wait begins at the previous acknowledgement, or at the record's due time if that is later, as for an outage. So
    a producer that sends seldom, and has long gaps with nothing to send, does not count as slow.
    """
    if (baseline := rows.case.baseline) is None:
        return {}
    done, due, partition = rows.columns("sends", "completed", "scheduled", "partition")
    ok, _, _ = _outcomes(rows)
    mine = np.flatnonzero(ok & (partition != EMPTY) & (done >= baseline.began) & (done <= baseline.ended))
    process, place, producer = rows.processes("sends")[mine], rows.places("sends")[mine], rows.column("sends", "probe")
    order = np.lexsort((due[mine], done[mine], place, process))
    mine, fresh = mine[order], first(process[order]) | first(place[order])
    before = np.where(fresh, np.iinfo(np.int64).min, np.concatenate([done[mine][:1], done[mine][:-1]]))
    waited = done[mine] - np.maximum(due[mine], before)
    found = {}
    for name in np.unique(producer[mine]).tolist():
        sorted_ = np.sort(waited[producer[mine] == name])
        shares = np.searchsorted(sorted_, sorted_, "right") / len(sorted_)
        found[name] = int(sorted_[shares >= _SHARE][0])
    return found


def consume_outages(rows: EventRows, whole: EventRows) -> list[dict[str, Any]]:
    """Return stretches in which a group (or a consumer without one) got nothing of a partition although records waited.

    Keys: reader, topic, partition, began, ended, censored. It begins at the last delivery, or when the first waiting
    record was acknowledged if that is later; before the first delivery, with the assignment. Records that waited are:
    the one that ended the stretch, if it was delivered for the first time; and any record that was acknowledged in this
    time beyond all that the reader had been given, whether it got it later or it was lost. ``whole``: the run with a
    recreated topic as one.
    """
    found = [stretch.told(whole) for stretch in _ended(whole)] + [stretch.told(rows) for stretch in _starving(rows)]
    return [row for row in found if row["ended"] - row["began"] >= SHORTEST]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch without a delivery of a partition to a reader, and since when a record waited."""

    key: int
    opened: int
    closed: int
    due: int
    censored: bool

    def told(self, rows: EventRows) -> dict[str, Any]:
        reader, place = divmod(self.key, 1 << _BITS)
        topic, partition = divmod(place, 1 << 20)
        return {
            "reader": rows.word("reader", reader), "topic": rows.word("topic", topic), "partition": partition,
            "began": max(self.opened, self.due), "ended": self.closed, "censored": self.censored,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Lane:
    """The deliveries of one partition to one reader, in order of time."""

    key: int
    given: int | None
    """Time of the first assignment."""
    at: Numbers
    offset: Numbers
    row: Numbers
    """Index of each among ``reads``."""

    def stretches(self) -> list[tuple[int, int]]:
        """Return the stretches of a second or more that a delivery ended."""
        marks = self.at if self.given is None else np.concatenate([[self.given], self.at])
        long = np.flatnonzero(np.diff(marks) >= SHORTEST) if self.at.size else ()
        return [(int(marks[place]), int(marks[place + 1])) for place in long]

    def reached(self, time: int) -> int | None:
        """Return the highest offset delivered until then; None without any."""
        until = self.offset[: np.searchsorted(self.at, time, "right")]
        return int(until.max()) if until.size else None


def _lanes(rows: EventRows) -> list[_Lane]:
    """Return a lane for each reader and partition that it was given, or records of."""
    keys, at = (rows.readers() << _BITS) | rows.places("reads"), rows.column("reads", "at")
    order = np.lexsort((at, keys))
    starts = np.flatnonzero(first(keys[order]))
    given = _given(rows)
    lanes = {}
    for mine in np.split(order, starts[1:]) if order.size else ():
        key = int(keys[mine[0]])
        lanes[key] = _Lane(key, given.get(key), at[mine], rows.column("reads", "offset")[mine], mine)
    none = np.empty(0, np.int64)
    return [*lanes.values(), *(_Lane(key, when, none, none, none) for key, when in given.items() if key not in lanes)]


def _given(rows: EventRows) -> dict[int, int]:
    """Return the time at which each reader was first assigned each partition."""
    gives = rows.column("assignments", "kind") == rows.code("kind", "assign")
    keys = (rows.readers("assignments") << _BITS) | rows.places("assignments")
    found: dict[int, int] = {}
    for key, at in zip(keys[gives].tolist(), rows.column("assignments", "at")[gives].tolist(), strict=True):
        found[key] = min(at, found.get(key, at))
    return found


def _ended(rows: EventRows) -> Iterator[_Stretch]:
    """Yield the stretches that a delivery ended, and in which a record waited."""
    lanes = [(lane, stretches) for lane in _lanes(rows) if (stretches := lane.stretches())]
    if not lanes:
        return
    acknowledged = _Acknowledged.of(rows)
    values, firsts = rows.values("reads"), _first_deliveries(rows)
    for lane, stretches in lanes:
        begins = [opened for opened, _ in stretches]
        for number, (opened, closed) in enumerate(stretches):
            ending = lane.row[np.searchsorted(lane.at, closed, "left") : np.searchsorted(lane.at, closed, "right")]
            got = acknowledged.times_of(values[ending[firsts[ending]]])
            until = begins[number + 1] if number + 1 < len(begins) and begins[number + 1] == closed else closed + 1
            ahead = acknowledged.ahead(lane.key, opened, until, lane.reached(opened))
            due = np.concatenate([got, ahead])
            if due.size:
                yield _Stretch(lane.key, opened, closed, int(due.min()), censored=False)


@dataclass(frozen=True, slots=True)
class _Acknowledged:
    """Written records: by value, and by partition and time."""

    values: Numbers
    """Sorted."""
    completed: Numbers
    """By value."""
    places: Numbers
    """Sorted, with ``times`` within each."""
    times: Numbers
    invoked: Numbers
    offset: Numbers

    @classmethod
    def of(cls, rows: EventRows) -> _Acknowledged:
        mine = np.flatnonzero(written(rows))
        values, done = rows.values("sends")[mine], rows.column("sends", "completed")[mine]
        order = np.argsort(values)
        known = mine[rows.column("sends", "offset")[mine] >= 0]
        place, times = rows.places("sends")[known], rows.column("sends", "completed")[known]
        turn = np.lexsort((times, place))
        return cls(
            values[order], done[order], place[turn], times[turn],
            *(rows.column("sends", name)[known][turn] for name in ("invoked", "offset")),
        )  # fmt: skip

    def times_of(self, values: Numbers) -> Numbers:
        """Return the times of acknowledgement of those of the values that are written."""
        wanted = np.unique(values[values != EMPTY])
        return self.completed[np.isin(self.values, wanted)] if wanted.size else wanted

    def ahead(self, key: int, opened: int, until: int, reached: int | None) -> Numbers:
        """Return the times from ``opened`` to before ``until`` of acknowledgements beyond the offset ``reached``."""
        place = key & ((1 << _BITS) - 1)
        low, high = np.searchsorted(self.places, place, "left"), np.searchsorted(self.places, place, "right")
        times = self.times[low:high]
        span = slice(low + np.searchsorted(times, opened, "left"), low + np.searchsorted(times, until, "left"))
        new = self.invoked[span] > opened + _SETTLING if reached is None else self.offset[span] > reached
        return self.times[span][new]


def _first_deliveries(rows: EventRows) -> Marks:
    """Mark the deliveries of intact values that are the first to their reader, or of the same time as it."""
    values, readers, at = rows.values("reads"), rows.readers(), rows.column("reads", "at")
    order = np.lexsort((at, readers, values))
    fresh = first(values[order]) | first(readers[order])
    earliest = at[order][np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))] if order.size else at
    found = np.zeros(len(values), np.bool_)
    found[order] = at[order] == earliest
    found &= values != EMPTY
    return found


def _starving(rows: EventRows) -> Iterator[_Stretch]:
    """Yield the stretch after the last delivery, per reader and partition, if the log holds later records.

    Without any delivery it begins with the assignment, and only records sent after that wait.
    """
    last = max((span.ended for span in rows.case.phases if span.name == "drain"), default=rows.case.run.ended)
    lanes = _lanes(rows)
    for reader in sorted({lane.key >> _BITS for lane in lanes}):
        waiting = _waiting(rows, reader)
        if not waiting.values.size:
            continue
        for lane in lanes:
            if lane.key >> _BITS != reader:
                continue
            opened = int(lane.at[-1]) if lane.at.size else lane.given or 0
            reached = int(lane.offset.max()) if lane.at.size else None
            new = waiting.invoked > opened + _SETTLING if reached is None else waiting.offset > reached
            due = waiting.completed[new & (waiting.places == lane.key & ((1 << _BITS) - 1))]
            if due.size:
                yield _Stretch(lane.key, opened, last, int(due.min()), censored=True)


def _waiting(rows: EventRows, reader: int) -> _Acknowledged:
    """Return the written and audited records that a reader was never given, at their lowest place in the log."""
    mine = np.flatnonzero(written(rows) & (rows.values("sends") != EMPTY))
    values = rows.values("sends")[mine]
    intact = {table: rows.column(table, "intact") == 1 for table in ("reads", "audit")}
    given = rows.values("reads")[(rows.readers() == reader) & intact["reads"]]
    left = np.isin(values, rows.values("audit")[intact["audit"]]) & ~np.isin(values, given)
    mine, values = mine[left], values[left]
    seen, place, offset = (
        np.concatenate(pair)
        for pair in (
            [rows.values(table)[intact[table]] for table in ("audit", "reads")],
            [rows.places(table)[intact[table]] for table in ("audit", "reads")],
            [rows.column(table, "offset")[intact[table]] for table in ("audit", "reads")],
        )
    )
    kept = np.isin(seen, values)
    seen, place, offset = seen[kept], place[kept], offset[kept]
    order = np.lexsort((offset, place, seen))
    lowest = order[first(seen[order])]
    where = lowest[np.searchsorted(seen[lowest], values)] if values.size else lowest[:0]
    return _Acknowledged(
        values, rows.column("sends", "completed")[mine], place[where], rows.column("sends", "completed")[mine],
        rows.column("sends", "invoked")[mine], offset[where],
    )  # fmt: skip
