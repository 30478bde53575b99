"""Primitives of glances over columns of a run's rows; all of them sort, none loops over rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.glances.rows import Numbers


def dense(*columns: Numbers) -> Numbers:
    """Encode each distinct combination of values as a number from 0 on, in the order of the columns."""
    ranks = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, inverse = np.unique(column, return_inverse=True)
        ranks = ranks * (int(inverse.max(initial=0)) + 1) + inverse
        if len(columns) > 1:
            _, ranks = np.unique(ranks, return_inverse=True)
    return ranks


def in_turn(group: Numbers, *orders: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Sort rows by group and ``orders``; also mark all but the first whose previous row is of the same group."""
    places = np.lexsort((*reversed(orders), group))
    ranks = group[places]
    return places, ranks[1:] == ranks[:-1]


def differ(group: Numbers, value: Numbers) -> bool:
    """Return True if any group has two different values."""
    places = np.argsort(group, kind="stable")
    ranks, values = group[places], value[places]
    return bool(np.any((ranks[1:] == ranks[:-1]) & (values[1:] != values[:-1])))


def repeated(values: Numbers) -> bool:
    """Return True if any value occurs twice."""
    ranks = np.sort(values)
    return bool(np.any(ranks[1:] == ranks[:-1]))


def lacks(wanted: Numbers, there: Numbers) -> bool:
    """Return True if any of the wanted values is missing."""
    return not bool(np.isin(wanted, there).all())
