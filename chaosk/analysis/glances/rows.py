"""Rows of a run that fits into memory as numpy arrays, which checks examine before Spark.

Planning any query takes Spark a tenth of a second; a glance at a run of ordinary length takes a few milliseconds. Text
is coded as numbers, with the same number for the same word in every table; a null is -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import RLock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from chaosk.analysis.case import Case
from chaosk.analysis.event_files import EventFile

Numbers = NDArray[np.int64]

EMPTY = -1
"""Stands for a null text or number."""
_SAME = {"producer": "probe"}
_WRITTEN = ("sends", "outputs")
_SEEN = ("reads", "audit")
"""Tables with a value: of the probe that wrote the row, and of the producer that the payload names."""
SPARSE, SPARE = 8, 1 << 20
"""Numbers of a small range for each row, and those that any run may have beyond that."""
_BITS = 20
"""Bits of a partition or an incarnation in a packed number."""


PART = 5_000_000
"""Rows of a table that are held at once."""


class EventRows:
    """Columns of the event tables, each read on first use, and kept."""

    def __init__(self, case: Case, only: tuple[str, int] | None = None) -> None:
        """Take all tables whole, but for one of which ``only`` names a row group."""
        self.case = case
        self._only = only
        self._files: dict[str, EventFile] = {}
        self._columns: dict[tuple[str, str], Numbers] = {}
        self._codes: dict[str, dict[str, int]] = {}
        self._values: dict[str, Numbers] = {}
        self._firsts: Numbers = np.empty(0, np.int64)
        self._lock = RLock()

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        if self._only is not None and self._only[0] == table:
            return self._file(table).length(self._only[1])
        return self.case.rows[table]

    def parts(self, table: str) -> Iterator[EventRows]:
        """Yield the rows of a long table in parts, each with codes of its own; those of a short one are one part."""
        if self.count(table) <= PART:
            yield self
            return
        for number in range(self._file(table).groups):
            yield EventRows(self.case, (table, number))

    def column(self, table: str, column: str) -> Numbers:
        """Return a column of numbers, booleans (0 and 1) or text (see :meth:`code`); ``EMPTY`` for nulls.

        Offsets of sends are the ones that brokers reported: ``EMPTY`` with ``acks=0``, and if the send ended with an
        error; see :meth:`as_written`.
        """
        with self._lock:
            if (table, column) not in self._columns:
                found = self.as_written(table, column)
                if (table, column) == ("sends", "offset"):
                    deaf = [(self.code("probe", probe) << _BITS) | number for probe, number in self.case.deaf]
                    failed = self.column("sends", "outcome") == self.code("outcome", "fail")
                    failed |= self.column("sends", "error") != EMPTY
                    found = np.where(failed | np.isin(self.processes("sends"), deaf), EMPTY, found)
                self._columns[table, column] = found
            return self._columns[table, column]

    def as_written(self, table: str, column: str) -> Numbers:
        """Return a column as recorded, for counting."""
        with self._lock:
            return self._numbers(column, self._read(table, column))

    def lengths(self, table: str, column: str) -> Numbers:
        """Return the length of each list of a column; ``EMPTY`` for nulls."""
        with self._lock:
            return _filled(pc.list_value_length(self._read(table, column)))

    def firsts(self, table: str, column: str) -> Numbers:
        """Return the first number of each list of a column; ``EMPTY`` for none."""
        with self._lock:
            lists = self._read(table, column).combine_chunks()
            having, places = np.unique(_filled(pc.list_parent_indices(lists)), return_index=True)
            found = np.full(len(lists), EMPTY)
            found[having] = _filled(pc.list_flatten(lists))[places]
            return found

    def columns(self, table: str, *columns: str) -> tuple[Numbers, ...]:
        """Return several columns."""
        return tuple(self.column(table, column) for column in columns)

    def code(self, column: str, text: str) -> int:
        """Return the code of a text in columns of that name, in every table; ``producer`` shares those of ``probe``."""
        with self._lock:
            codes = self._codes.setdefault(_SAME.get(column, column), {})
            return codes.setdefault(text, len(codes))

    def word(self, column: str, code: int) -> str | None:
        """Return the text of a code, see :meth:`code`; None if there is none."""
        with self._lock:
            words = list(self._codes.get(_SAME.get(column, column), {}))
            return words[code] if 0 <= code < len(words) else None

    def ranks(self, column: str) -> Numbers:
        """Return the position of each word among the sorted ones, by its code."""
        with self._lock:
            words = list(self._codes.get(_SAME.get(column, column), {}))
        ranks = np.empty(len(words), np.int64)
        ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
        return ranks

    def places(self, table: str) -> Numbers:
        """Return topic and partition as one number; ``EMPTY`` if one of them is null."""
        return _packed(self.column(table, "topic"), self.column(table, "partition"))

    def processes(self, table: str, probe: str = "probe", incarnation: str = "incarnation") -> Numbers:
        """Return probe and incarnation as one number."""
        return _packed(self.column(table, probe), self.column(table, incarnation))

    def process(self, number: int) -> tuple[str, int]:
        """Return probe and incarnation of a number of :meth:`processes`."""
        probe, incarnation = divmod(number, 1 << _BITS)
        return self.word("probe", probe) or "", incarnation

    def readers(self, table: str = "reads") -> Numbers:
        """Return the reader of each row: the code of its group, or of its probe without one, as ``reader``."""
        with self._lock:
            group, probe = self.columns(table, "group", "probe")
            return np.where(group == EMPTY, self._as_readers("probe")[probe], self._as_readers("group")[group])

    def _as_readers(self, column: str) -> Numbers:
        """Return the code of each word of a column as a ``reader``; for ``EMPTY``, the last element is ``EMPTY``."""
        return np.array([*(self.code("reader", word) for word in self._codes.get(column, {})), EMPTY], dtype=np.int64)

    def values(self, table: str) -> Numbers:
        """Return the value of each row of ``reads`` or ``audit``, or that ``sends`` or ``outputs`` wrote, or ``EMPTY``.

        Values of one process are neighbours, in the order of their ``seq``. So all of a run are from a small range.
        """
        with self._lock:
            if not self._values:
                self._values = self._numbered()
            return self._values[table]

    def writers(self, table: str) -> Numbers:
        """Return the process that wrote each row's record, as :meth:`processes` does."""
        names = ("producer", "producer_incarnation") if table in _SEEN else ("probe", "incarnation")
        return self.processes(table, *names)

    def first_values(self) -> Numbers:
        """Return the first value of each process, in order."""
        self.values("sends")
        return self._firsts

    def _numbered(self) -> dict[str, Numbers]:
        """Number the values of all tables: where the process begins, and the ``seq``; else by rank.

        A damaged payload may name any ``seq``; then the range of all is no small one.
        """
        tables = (*_WRITTEN, *_SEEN)
        who = np.concatenate([self.writers(table) for table in tables])
        seq = np.concatenate([self.column(table, "seq") for table in tables])
        known = np.flatnonzero((who != EMPTY) & (seq >= 0))
        names, which = _distinct(who[known])
        lengths = np.zeros(names.size, np.int64)
        np.maximum.at(lengths, which, seq[known] + 1)
        if float(lengths.astype(np.float64).sum()) > SPARSE * len(who) + SPARE:
            values, inverse = np.unique(np.stack([which, seq[known]]), axis=1, return_inverse=True)
            ranks = inverse.ravel()
            self._firsts = np.searchsorted(values[0], np.arange(names.size))
        else:
            self._firsts = np.cumsum(lengths) - lengths
            ranks = self._firsts[which] + seq[known]
        numbers = np.full(len(who), EMPTY)
        numbers[known] = ranks
        ends = np.cumsum([self.count(table) for table in tables])[:-1]
        return dict(zip(tables, np.split(numbers, ends), strict=True))

    def _file(self, table: str) -> EventFile:
        if table not in self._files:
            self._files[table] = EventFile(self.case.events, table)
        return self._files[table]

    def _read(self, table: str, column: str) -> Any:  # noqa: ANN401 - chunks of any type
        group = self._only[1] if self._only is not None and self._only[0] == table else None
        return self._file(table).column(column, group)

    def _numbers(self, name: str, column: Any) -> Numbers:  # noqa: ANN401 - as above
        if not pa.types.is_dictionary(column.type):
            return _filled(column)
        if not len(column):
            return np.empty(0, np.int64)
        coded = column.unify_dictionaries().combine_chunks()
        known = [self.code(name, str(text)) for text in coded.dictionary.to_pylist()]
        return np.array([*known, EMPTY], dtype=np.int64)[_filled(coded.indices)]


def _distinct(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return the few distinct numbers, in order, and the rank of each number among them; without sorting all."""
    coded: Any = pc.dictionary_encode(pa.array(numbers))
    names = _filled(coded.dictionary)
    order = np.argsort(names)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(names.size)
    return names[order], ranks[_filled(coded.indices)]


def _filled(column: Any) -> Numbers:  # noqa: ANN401 - an array or many chunks of one
    """Convert an Arrow array to 64-bit numbers; nulls become ``EMPTY``, which also indexes the last element."""
    return np.asarray(pc.fill_null(pc.cast(column, pa.int64()), EMPTY), dtype=np.int64)


def _packed(high: Numbers, low: Numbers) -> Numbers:
    return np.where((high == EMPTY) | (low == EMPTY), EMPTY, (high << _BITS) | low)
