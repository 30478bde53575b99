"""Values on which the sources disagree, with numpy; see ``chaosk.analysis.frames.suspects``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from chaosk.analysis.event_files import EventFile
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.readers import owed
from chaosk.rundir.events.arrow import SCHEMAS

Flags = NDArray[np.bool_]

_TABLES = ("sends", "reads", "audit")


class _Source(NamedTuple):
    """Who tells of records: the acknowledgements, one level of the audit, or one reader."""

    table: str
    mine: Flags
    """Which rows of the table are its own."""
    due: Flags
    """By code of a topic, whether it has each settled value of the topic; the last element stands for no topic."""


def unsettled(rows: EventRows) -> dict[str, Flags]:
    """Return by table which rows are of no settled value.

    A value is settled if each source in which it is due has it once, all at one place, and no other source has it.
    """
    size = 1 + max(int(rows.values(table).max(initial=EMPTY)) for table in _TABLES)
    told, wanted = np.zeros(size, np.int64), np.zeros(size, np.int64)
    seen, odd = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    topics, places, offsets = (np.full(size, EMPTY) for _ in range(3))
    sources = tuple(_sources(rows))
    for table, mine, due in sources:
        chosen = np.flatnonzero(mine & (rows.values(table) != EMPTY))
        value, place = rows.values(table)[chosen], rows.places(table)[chosen]
        topic, offset = (column[chosen] for column in rows.columns(table, "topic", "offset"))
        new = ~seen[value]
        for known, here in ((topics, topic), (places, place), (offsets, offset)):
            known[value[new]] = here[new]
        times = np.bincount(value, minlength=size)
        there = times > 0
        seen |= there
        told += there
        odd |= (times > 1) | (there & ~due[topics])
        odd[value[(places[value] != place) | (offsets[value] != offset)]] = True
    for source in sources:
        wanted += source.due[topics]
    odd |= seen & (told != wanted)
    with_none = np.append(odd, True)
    return {table: with_none[rows.values(table)] for table in _TABLES}


def chosen(rows: EventRows, table: str, wanted: Flags) -> pa.Table:
    """Return some rows of an event table, with all columns."""
    file, begin, parts = EventFile(rows.case.events, table), 0, []
    for group in range(file.groups):
        end = begin + file.length(group)
        if wanted[begin:end].any():
            parts.append(file.rows(group).filter(pa.array(wanted[begin:end])))
        begin = end
    return pa.concat_tables([SCHEMAS[table].empty_table(), *(part.cast(SCHEMAS[table]) for part in parts)])


def _sources(rows: EventRows) -> Iterator[_Source]:
    every = _flagged(rows, rows.case.topics)
    yield _Source("sends", _acknowledged(rows), every)
    careful = rows.column("audit", "isolation") == rows.code("isolation", "read_committed")
    yield _Source("audit", careful, every)
    yield _Source("audit", ~careful, every)
    reader, topic = rows.readers(), rows.column("reads", "topic")
    due, others = owed(rows.case), np.ones(len(reader), np.bool_)
    for name in sorted({name for _, name in rows.case.consumers}):
        mine = reader == rows.code("reader", name)
        others &= ~mine
        read = {word for code in np.unique(topic[mine]).tolist() if (word := rows.word("topic", code)) is not None}
        yield _Source("reads", mine, _flagged(rows, (due.get(name, frozenset()) | read) & rows.case.topics.keys()))
    yield _Source("reads", others, _flagged(rows, ()))


def _flagged(rows: EventRows, topics: Iterable[str]) -> Flags:
    """Return which of the topics' codes are of some topics; the last element, for no topic, is of none."""
    codes = [rows.code("topic", name) for name in sorted(topics)]
    highest = max(int(rows.column(table, "topic").max(initial=EMPTY)) for table in _TABLES)
    flags = np.zeros(max([*codes, highest]) + 2, np.bool_)
    flags[codes] = True
    return flags


def _acknowledged(rows: EventRows) -> Flags:
    """Return which sends were acknowledged with a place, except those in transactions known to be aborted."""
    outcome, offset, txn = rows.columns("sends", "outcome", "offset", "txn")
    mine: Flags = (outcome == rows.code("outcome", "ok")) & (offset >= 0)
    if rows.case.transactional:
        names, endings = rows.columns("transactions", "txn", "outcome")
        mine &= ~np.isin(txn, names[(endings == rows.code("outcome", "aborted")) & (names != EMPTY)])
    return mine
