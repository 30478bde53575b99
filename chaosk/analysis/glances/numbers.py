"""Questions to columns of a run's rows that a glance is made of; all of them sort, none loops over rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.glances.rows import Numbers


def dense(*columns: Numbers) -> Numbers:
    """Each different combination of values as a number from 0 on, in the order of the columns."""
    ranks = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, inverse = np.unique(column, return_inverse=True)
        ranks = ranks * (int(inverse.max(initial=0)) + 1) + inverse
        if len(columns) > 1:
            _, ranks = np.unique(ranks, return_inverse=True)
    return ranks


def in_turn(group: Numbers, *orders: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Rows sorted by group and ``orders``; and for all but the first, whether the one before is of its group."""
    places = np.lexsort((*reversed(orders), group))
    ranks = group[places]
    return places, ranks[1:] == ranks[:-1]


def differ(group: Numbers, value: Numbers) -> bool:
    """Whether any group has two different values."""
    places = np.argsort(group, kind="stable")
    ranks, values = group[places], value[places]
    return bool(np.any((ranks[1:] == ranks[:-1]) & (values[1:] != values[:-1])))


def repeated(values: Numbers) -> bool:
    """Whether any value is there twice."""
    ranks = np.sort(values)
    return bool(np.any(ranks[1:] == ranks[:-1]))


def lacks(wanted: Numbers, there: Numbers) -> bool:
    """Whether any of the wanted values is not there."""
    return not bool(np.isin(wanted, there).all())
