"""Sets of times as sorted lists of disjoint, separated intervals in nanoseconds: pure Python, for few intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Interval = tuple[int, int]
"""From the first time to before the second."""
ENDLESS = 2**62
"""Later than any time; its negative is earlier."""


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union of intervals in any order; empty ones are ignored."""
    found: list[Interval] = []
    for began, ended in sorted(one for one in intervals if one[0] < one[1]):
        if found and began <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ended))
        else:
            found.append((began, ended))
    return found


def common(ours: Sequence[Interval], others: Sequence[Interval]) -> list[Interval]:
    """Return the intersection of both sets."""
    return union((max(a, c), min(b, d)) for a, b in ours for c, d in others)


def without(ours: Sequence[Interval], others: Sequence[Interval]) -> list[Interval]:
    """Return the times of ours that are not in the others."""
    cuts = [-ENDLESS, *(cut for one in others for cut in one), ENDLESS]
    return common(ours, union(zip(cuts[::2], cuts[1::2], strict=True)))


def length(intervals: Iterable[Interval]) -> int:
    """Return the total length."""
    return sum(ended - began for began, ended in intervals)
