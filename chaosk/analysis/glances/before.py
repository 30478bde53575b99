"""Shared computations of glances: rows of several tables in one order, and earlier rows of each.

Keys and values are arrays of one length, as ``chaosk.analysis.glances.rows`` returns them; nothing here loops over
rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers

Marks = NDArray[np.bool_]
_OFFSET_BITS = 42


def coded(*columns: Numbers) -> Numbers:
    """Encode each combination of some small numbers as one number, ``EMPTY`` included."""
    whole = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        whole = whole * (int(column.max(initial=EMPTY)) + 2) + column + 1
    return whole


def members(rows: EventRows, *tables: str) -> Numbers:
    """Encode probe, incarnation, topic and partition of the concatenated rows of several tables as one number."""
    return _over(rows, tables, "probe", "incarnation", "topic", "partition")


def owned(rows: EventRows, *tables: str) -> Numbers:
    """Encode group, topic and partition of the concatenated rows of several tables as one number."""
    return _over(rows, tables, "group", "topic", "partition")


def highest(keys: Numbers, values: Numbers) -> Numbers:
    """Return for rows sorted by ``keys`` the highest value of each key so far, with the row itself; ``EMPTY`` for none.

    Values are offsets or ``EMPTY``.
    """
    ranks = np.cumsum(first(keys)) << _OFFSET_BITS
    reached: Numbers = np.maximum.accumulate(ranks + values + 1) - ranks - 1
    return reached


def last(keys: Numbers, values: Numbers, has: Marks) -> Numbers:
    """Return for rows sorted by ``keys`` the value of each key's latest row that ``has`` one; ``EMPTY`` for none."""
    numbers = np.arange(len(keys))
    begins = np.maximum.accumulate(np.where(first(keys), numbers, 0))
    latest = np.maximum.accumulate(np.where(has, numbers, EMPTY))
    return np.where(latest >= begins, values[latest], EMPTY) if len(keys) else values


def first(keys: Numbers) -> Marks:
    """Mark for rows sorted by ``keys`` the first row of each key."""
    return np.concatenate([np.ones(min(len(keys), 1), dtype=np.bool_), keys[1:] != keys[:-1]])


def earlier(keys: Numbers, values: Numbers) -> Numbers:
    """Return for rows sorted by ``keys`` the value of the previous row of the same key; ``EMPTY`` for its first."""
    return np.where(first(keys), EMPTY, np.concatenate([values[:1], values[:-1]]))


def passed_on(rows: EventRows, table: str, time: str) -> Marks:
    """Mark the rows of ``table`` whose partition the group had last assigned to another process.

    A row of an assignment before the process's own last one is marked as well: another process may have had it between.
    """
    keys, who = owned(rows, "assignments", table), members(rows, "assignments", table)
    terms = np.concatenate([rows.column("assignments", "assignment"), rows.column(table, "assignment")])
    gives = rows.column("assignments", "kind") == rows.code("kind", "assign")
    times = np.concatenate([rows.column("assignments", "at"), rows.column(table, time)])
    given = np.concatenate([gives, np.zeros(rows.count(table), dtype=np.bool_)])
    order = np.lexsort((times, keys))
    owner, term = (last(keys[order], each[order], given[order]) for each in (who, terms))
    earlier_term = (terms[order] != EMPTY) & (terms[order] < term)
    found = np.empty(len(keys), dtype=np.bool_)
    found[order] = (owner != EMPTY) & ((owner != who[order]) | earlier_term)
    return found[len(gives) :]


def _over(rows: EventRows, tables: tuple[str, ...], *names: str) -> Numbers:
    return coded(*(np.concatenate([rows.column(table, name) for table in tables]) for name in names))
