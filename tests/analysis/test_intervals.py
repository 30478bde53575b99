"""Sets of moments: against the same sets, moment by moment."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chaosk.analysis.intervals import Interval, common, length, union, without

SOME = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6)


def moments(intervals: list[Interval]) -> set[int]:
    """Every whole moment that lies in any of them."""
    return {moment for began, ended in intervals for moment in range(began, ended)}


@given(SOME, SOME)
def test_they_hold_the_moments_of_their_parts(one: list[Interval], other: list[Interval]) -> None:
    """Union, what is in both, and what is in the first alone, however many, in whatever order, empty ones too."""
    ours, others = union(one), union(other)
    assert moments(ours) == moments(one)
    assert moments(common(ours, others)) == moments(one) & moments(other)
    assert moments(without(ours, others)) == moments(one) - moments(other)
    assert length(ours) == len(moments(one))


@given(SOME)
def test_they_neither_overlap_nor_touch(some: list[Interval]) -> None:
    """So their lengths add up, and neighbours are apart."""
    found = union(some)
    assert all(a[1] < b[0] for a, b in pairwise(found))
    assert all(began < ended for began, ended in found)
