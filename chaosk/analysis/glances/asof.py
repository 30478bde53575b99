"""As-of lookups for glances: the last row of a key before a time, or its highest number until then."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chaosk.analysis.glances.rows import EMPTY, SPARE, Numbers

_NUMBER_BITS = 40


def last_until(keys: Numbers, times: Numbers, at_keys: Numbers, at_times: Numbers) -> Numbers:
    """Return for each time the index of the latest row of its key until then (included); ``EMPTY`` for none."""
    order, found, mine = _found(keys, times, at_keys, at_times, "right")
    return np.where(mine, order[found], EMPTY) if keys.size else np.full(at_keys.size, EMPTY)


def highest_before(keys: Numbers, times: Numbers, numbers: Numbers, at_keys: Numbers, at_times: Numbers) -> Numbers:
    """Return for each time the highest of the numbers (below 2**40) of its key before then; ``EMPTY`` for none."""
    if not keys.size or not at_keys.size:
        return np.full(at_keys.size, EMPTY)
    if (few := _highest_of_few(keys, times, numbers, at_keys, at_times)) is not None:
        return few
    order, found, mine = _found(keys, times, at_keys, at_times, "left")
    ranks = np.unique(keys, return_inverse=True)[1][order]
    running = np.maximum.accumulate((ranks << _NUMBER_BITS) | numbers[order]) & ((1 << _NUMBER_BITS) - 1)
    return np.where(mine, running[found], EMPTY)


def _highest_of_few(
    keys: Numbers, times: Numbers, numbers: Numbers, at_keys: Numbers, at_times: Numbers
) -> Numbers | None:
    """Return the same if few times are asked for: rows are counted by the first of them after each, and not sorted."""
    moments, (names, which) = np.unique(at_times), np.unique(at_keys, return_inverse=True)
    if names.size * (moments.size + 1) >= keys.size + SPARE:
        return None
    place = np.minimum(np.searchsorted(names, keys), names.size - 1)
    known = names[place] == keys
    highest = np.full((names.size, moments.size + 1), EMPTY)
    np.maximum.at(highest, (place[known], np.searchsorted(moments, times[known], "right")), numbers[known])
    until = np.maximum.accumulate(highest, axis=1)
    found: Numbers = until[which, np.searchsorted(moments, at_times)]
    return found


def _found(
    keys: Numbers, times: Numbers, at_keys: Numbers, at_times: Numbers, side: Literal["left", "right"]
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the sort order of the rows, a position in it for each time, and True if a row of its key is there."""
    ranks = np.unique(np.concatenate([times, at_times]), return_inverse=True)[1]
    names = np.unique(np.concatenate([keys, at_keys]), return_inverse=True)[1]
    packed = names * (ranks.max(initial=0) + 1) + ranks
    order = np.argsort(packed[: keys.size], kind="stable")
    found = np.searchsorted(packed[: keys.size][order], packed[keys.size :], side=side) - 1
    if not keys.size:
        return order, found, np.zeros(at_keys.size, dtype=np.int64)
    return order, found, (found >= 0) & (keys[order[found]] == at_keys)
