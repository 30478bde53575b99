"""Primitives of glances over columns of a run's rows; none loops over rows.

Numbers from a small range are counted in an array with an element for each of its numbers. Others are sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.glances.rows import SPARE, SPARSE, Numbers


def _span(values: Numbers) -> tuple[int, int] | None:
    """Return the lowest value and the length of the range, if an array for the range is worthwhile."""
    if not values.size:
        return 0, 0
    low, high = int(values.min()), int(values.max())
    return (low, high - low + 1) if high - low < SPARSE * values.size + SPARE else None


def dense(*columns: Numbers) -> Numbers:
    """Encode each distinct combination of values as a number from 0 on, in the order of the columns."""
    ranks = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        inverse = _ranks(column)
        ranks = ranks * (int(inverse.max(initial=0)) + 1) + inverse
        if len(columns) > 1:
            ranks = _ranks(ranks)
    return ranks


def _ranks(values: Numbers) -> Numbers:
    """Return the position of each value among the distinct ones."""
    if (span := _span(values)) is None:
        ranks: Numbers = np.unique(values, return_inverse=True)[1]
        return ranks
    low, length = span
    there = np.zeros(length, np.int64)
    there[values - low] = 1
    numbers: Numbers = (np.cumsum(there) - 1)[values - low]
    return numbers


def by_group(group: Numbers) -> NDArray[np.intp]:
    """Return the order that sorts rows by group, and keeps their order within each."""
    codes = dense(group)
    if codes.max(initial=0) <= np.iinfo(np.uint16).max:
        return np.argsort(codes.astype(np.uint16), kind="stable")  # a radix sort
    return np.argsort(codes, kind="stable")


def in_turn(group: Numbers, *orders: Numbers) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Sort rows by group and ``orders``; also mark all but the first whose previous row is of the same group.

    Rows that are in order already, as the tables of a process are, need no sort within their groups.
    """
    places = by_group(group)
    same = group[places][1:] == group[places][:-1]
    first = orders[0][places]
    if not np.all(np.diff(first)[same] > 0):
        places = np.lexsort((*reversed(orders), group))
        same = group[places][1:] == group[places][:-1]
    return places, same


def differ(group: Numbers, value: Numbers) -> bool:
    """Return True if any group has two different values."""
    if (span := _span(group)) is None:
        places = np.argsort(group, kind="stable")
        ranks, values = group[places], value[places]
        return bool(np.any((ranks[1:] == ranks[:-1]) & (values[1:] != values[:-1])))
    last = np.zeros(span[1], np.int64)
    last[group - span[0]] = value
    return bool(np.any(last[group - span[0]] != value))


def repeated(values: Numbers) -> bool:
    """Return True if any value occurs twice."""
    if (span := _span(values)) is None:
        ranks = np.sort(values)
        return bool(np.any(ranks[1:] == ranks[:-1]))
    return bool(np.bincount(values - span[0]).max(initial=0) > 1)


def lacks(wanted: Numbers, there: Numbers) -> bool:
    """Return True if any of the wanted values is missing."""
    return not bool(np.isin(wanted, there).all())
