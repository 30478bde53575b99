"""What several glances compute: rows of several tables in one order, and what came before each of them.

Keys and values are arrays of one length, as ``chaosk.analysis.glances.rows`` gives them; nothing here loops over rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.glances.rows import EMPTY, Numbers, Rows

Marks = NDArray[np.bool_]
_OFFSET_BITS = 42


def coded(*columns: Numbers) -> Numbers:
    """One number for each combination of some small numbers, empty ones included."""
    whole = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        whole = whole * (int(column.max(initial=EMPTY)) + 2) + column + 1
    return whole


def members(rows: Rows, *tables: str) -> Numbers:
    """Probe, incarnation, topic and partition of the rows of several tables, one after the other, as one number."""
    return _over(rows, tables, "probe", "incarnation", "topic", "partition")


def owned(rows: Rows, *tables: str) -> Numbers:
    """Group, topic and partition of the rows of several tables, one after the other, as one number."""
    return _over(rows, tables, "group", "topic", "partition")


def highest(keys: Numbers, values: Numbers) -> Numbers:
    """For rows sorted by ``keys``, the highest value of each key so far, the row itself included; ``EMPTY`` for none.

    Values are offsets or ``EMPTY``.
    """
    ranks = np.cumsum(first(keys)) << _OFFSET_BITS
    reached: Numbers = np.maximum.accumulate(ranks + values + 1) - ranks - 1
    return reached


def last(keys: Numbers, values: Numbers, has: Marks) -> Numbers:
    """For rows sorted by ``keys``, the value of each key's last row so far that ``has`` one; ``EMPTY`` for none."""
    numbers = np.arange(len(keys))
    begins = np.maximum.accumulate(np.where(first(keys), numbers, 0))
    latest = np.maximum.accumulate(np.where(has, numbers, EMPTY))
    return np.where(latest >= begins, values[latest], EMPTY) if len(keys) else values


def first(keys: Numbers) -> Marks:
    """For rows sorted by ``keys``, whether a row is the first of its key."""
    return np.concatenate([np.ones(min(len(keys), 1), dtype=np.bool_), keys[1:] != keys[:-1]])


def earlier(keys: Numbers, values: Numbers) -> Numbers:
    """For rows sorted by ``keys``, the value of the row before of the same key; ``EMPTY`` for its first."""
    return np.where(first(keys), EMPTY, np.concatenate([values[:1], values[:-1]]))


def passed_on(rows: Rows, table: str, time: str) -> Marks:
    """Whether the group had given the partition to another process than the one that each row of ``table`` is of."""
    keys, who = owned(rows, "assignments", table), members(rows, "assignments", table)
    gives = rows.column("assignments", "kind") == rows.code("kind", "assign")
    times = np.concatenate([rows.column("assignments", "at"), rows.column(table, time)])
    given = np.concatenate([gives, np.zeros(rows.count(table), dtype=np.bool_)])
    order = np.lexsort((times, keys))
    owner = last(keys[order], who[order], given[order])
    found = np.empty(len(keys), dtype=np.bool_)
    found[order] = (owner != EMPTY) & (owner != who[order])
    return found[len(gives) :]


def _over(rows: Rows, tables: tuple[str, ...], *names: str) -> Numbers:
    return coded(*(np.concatenate([rows.column(table, name) for table in tables]) for name in names))
