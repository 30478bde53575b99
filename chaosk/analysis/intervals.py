"""Sets of moments as sorted lists of intervals that neither overlap nor touch, nanoseconds: pure Python over a few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Interval = tuple[int, int]
"""From the first moment on, before the second."""
ENDLESS = 2**62
"""Later than any moment; its negative is earlier."""


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The moments that lie in any of some intervals, in whatever order they come; empty ones hold none."""
    found: list[Interval] = []
    for began, ended in sorted(one for one in intervals if one[0] < one[1]):
        if found and began <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ended))
        else:
            found.append((began, ended))
    return found


def common(ours: Sequence[Interval], others: Sequence[Interval]) -> list[Interval]:
    """The moments that lie in both sets."""
    return union((max(a, c), min(b, d)) for a, b in ours for c, d in others)


def without(ours: Sequence[Interval], others: Sequence[Interval]) -> list[Interval]:
    """The moments of ours that do not lie in the others."""
    cuts = [-ENDLESS, *(cut for one in others for cut in one), ENDLESS]
    return common(ours, union(zip(cuts[::2], cuts[1::2], strict=True)))


def length(intervals: Iterable[Interval]) -> int:
    """How long they are together."""
    return sum(ended - began for began, ended in intervals)
