"""Assignment of records to the incarnations of a recreated topic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from chaosk.analysis.case import Case, Process
from chaosk.analysis.event_files import reading
from chaosk.analysis.recreated.generations import RecreatedTopic

Numbers = NDArray[np.int64]
Value = tuple[str, int, int]
"""Producer, its incarnation, seq."""
Delivery = tuple[str, int, int, int]
"""Probe, its incarnation, partition, offset."""

NONE = -1
_NEVER = np.iinfo(np.int64).max
_SENT = ("probe", "incarnation")
_SEEN = ("producer", "producer_incarnation")


@dataclass(frozen=True, slots=True)
class _Across:
    """A send that was in flight when the topic was recreated."""

    partition: int
    before: int
    after: int
    """Incarnation of the topic at the send, and at the outcome."""
    acked: int
    """The acknowledged offset; ``NONE`` if there is none."""


class SendAttribution:
    """Knowledge of one topic's records: read once, with few of them kept."""

    def __init__(self, case: Case, topic: str, remaking: RecreatedTopic) -> None:
        """Read sends, audit and deliveries; raises pyarrow's errors if they cannot be read."""
        self._case, self._topic, self._remaking = case, topic, remaking
        self._made = np.asarray(remaking.made, dtype=np.int64)
        self._firsts: dict[Process, Numbers] = {
            (worker.probe, worker.incarnation): np.where(self._made <= worker.started, 0, _NEVER)
            for worker in case.workers
        }
        """First recorded send of each process to each incarnation of the topic but the first."""
        self._across: dict[Value, _Across] = {}
        self._passed: dict[tuple[int, int], int] = {}
        for batch in self._rows("sends", ("seq", "partition", "invoked", "completed", "outcome", "offset"), _SENT):
            self._add(batch)
        self._found = frozenset(self._audited())
        self.late = dict(self._late())
        """Time of deliveries of the old topic's records after the new topic was made."""

    def by_time(self, times: Numbers) -> Numbers:
        """Return the incarnation of the topic at these times."""
        return np.searchsorted(self._made, times, side="right").astype(np.int64)

    def of_sends(self, batch: pa.RecordBatch) -> Numbers:
        """Return the incarnation of each attempt."""
        ages = self.by_time(numbers(batch["invoked"]))
        for row, value in self._open(batch, ages, _SENT):
            ages[row] = self._of(value, int(ages[row]))
        return ages

    def of_reads(self, batch: pa.RecordBatch) -> Numbers:
        """Return the incarnation of each delivery: that of its record, but at most the one at the time of delivery."""
        then = self.by_time(numbers(batch["at"]))
        return np.minimum(then, self._of_values(batch, then))

    def of_inputs(self, batch: pa.RecordBatch) -> Numbers:
        """Return the incarnation of each delivery that is identified by its place."""
        ages = self.by_time(numbers(batch["at"]))
        if self.late:
            names = ("probe", "incarnation", "partition", "offset")
            for row, place in enumerate(zip(*(batch[name].to_pylist() for name in names), strict=True)):
                ages[row] -= place in self.late
        return ages

    def _rows(self, table: str, columns: tuple[str, ...], who: tuple[str, str]) -> Iterator[pa.RecordBatch]:
        with reading(self._case.events, table) as path, pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=[*who, "topic", *columns]):
                yield batch.filter(pc.equal(batch["topic"], pa.scalar(self._topic)))

    def _add(self, batch: pa.RecordBatch) -> None:
        before, completed = self.by_time(numbers(batch["invoked"])), numbers(batch["completed"])
        after = np.where(completed == NONE, len(self._made), self.by_time(completed))
        seqs, partitions, offsets = (numbers(batch[name]) for name in ("seq", "partition", "offset"))
        for process, mine in _by_process(batch, _SENT):
            if process in self._case.deaf:
                offsets = np.where(mine, NONE, offsets)
        acked = np.asarray(pc.equal(batch["outcome"], pa.scalar("ok"))) & (offsets >= 0)
        for process, mine in _by_process(batch, _SENT):
            first = self._firsts.setdefault(process, np.full(len(self._made), _NEVER))
            for age in range(1, len(self._made) + 1):
                later = seqs[mine & (before >= age)]
                first[age - 1] = min(int(first[age - 1]), int(later.min(initial=_NEVER)))
            for row in np.flatnonzero(mine & (before < after) & (partitions != NONE)).tolist():
                one = _Across(
                    int(partitions[row]), int(before[row]), int(after[row]), int(offsets[row]) if acked[row] else NONE
                )
                self._across[(*process, int(seqs[row]))] = one
        for age in range(len(self._made)):
            sure = acked & (before == age) & (after == age)
            for partition in np.unique(partitions[sure]).tolist():
                key, highest = (partition, age), int(offsets[sure & (partitions == partition)].max())
                self._passed[key] = max(self._passed.get(key, NONE), highest)

    def _audited(self) -> Iterator[Value]:
        """Yield audited records that were sent before the topic was recreated."""
        for batch in self._rows("audit", ("seq", "intact"), _SEEN):
            ours = batch.filter(batch["intact"])
            ages = np.full(ours.num_rows, len(self._made))
            yield from (value for _, value in self._before(ours, ages, _SEEN))

    def _late(self) -> Iterator[tuple[Delivery, int]]:
        columns = ("probe", "incarnation", "partition", "offset", "seq", "at")
        for batch in self._rows("reads", columns, _SEEN):
            then = self.by_time(numbers(batch["at"]))
            rows = batch.filter(pa.array(self._of_values(batch, then) < then))
            places = zip(*(rows[name].to_pylist() for name in columns[:4]), strict=True)
            yield from zip(places, rows["at"].to_pylist(), strict=True)

    def _of_values(self, batch: pa.RecordBatch, otherwise: Numbers) -> Numbers:
        """Return the incarnation of each row's record; for foreign records, the one at that time."""
        ages = otherwise.copy()
        for row, value in self._before(batch, ages, _SEEN):
            ages[row] = self._of(value, int(self._sent_by(value)))
        return ages

    def _before(self, batch: pa.RecordBatch, ages: Numbers, who: tuple[str, str]) -> Iterator[tuple[int, Value]]:
        """Yield rows whose record was sent before the incarnation in ``ages`` was made, each with its record."""
        seqs = numbers(batch["seq"])
        for process, mine in _by_process(batch, who):
            sent = np.searchsorted(self._firsts.get(process, self._made[:0]), seqs, side="right")
            for row in np.flatnonzero(mine & (seqs != NONE) & (sent < ages)).tolist():
                yield row, (*process, int(seqs[row]))

    def _open(self, batch: pa.RecordBatch, ages: Numbers, who: tuple[str, str]) -> Iterator[tuple[int, Value]]:
        """Yield the rows of sends that were in flight when the topic was recreated."""
        if not self._across:
            return
        seqs = numbers(batch["seq"])
        for process, mine in _by_process(batch, who):
            for row in np.flatnonzero(mine & (ages < len(self._made))).tolist():
                value = (*process, int(seqs[row]))
                if value in self._across:
                    yield row, value

    def _sent_by(self, value: Value) -> int:
        return int(np.searchsorted(self._firsts.get(value[:2], self._made[:0]), value[2], side="right"))

    def _of(self, value: Value, sent: int) -> int:
        """Return the incarnation of a record that was sent when the topic's age was ``sent``."""
        one = self._across.get(value)
        if value in self._found:
            return len(self._made)
        if one is not None and NONE < one.acked <= self._passed.get((one.partition, one.before), NONE):
            return one.after  # the old log had already passed that offset
        return sent


def numbers(column: Any) -> Numbers:  # noqa: ANN401 - an array, which pyarrow's stubs type too loosely to say
    """Return a new array of a column of numbers, with ``NONE`` for nulls."""
    return np.array(pc.fill_null(pc.cast(column, pa.int64()), NONE), dtype=np.int64)


def _by_process(batch: pa.RecordBatch, who: tuple[str, str]) -> Iterator[tuple[Process, NDArray[np.bool_]]]:
    """Yield each process in the rows, with a mask of its rows."""
    names = batch[who[0]].dictionary_encode()
    codes, incarnations = numbers(names.indices), numbers(batch[who[1]])
    for code, incarnation in sorted(set(zip(codes.tolist(), incarnations.tolist(), strict=True))):
        if code != NONE:
            yield (names.dictionary[code].as_py(), incarnation), (codes == code) & (incarnations == incarnation)
