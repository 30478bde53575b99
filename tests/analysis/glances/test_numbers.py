"""Primitives of glances: the same answers for numbers of a small range, which are counted, and for others."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.analysis.glances.numbers import dense, differ, in_turn, lacks, repeated

SPREAD = 2**40
"""Times this, small numbers are of a range that nobody counts in an array."""
columns = st.lists(st.tuples(st.integers(-3, 5), st.integers(0, 4), st.integers(0, 50)), max_size=40)


@pytest.mark.parametrize("times", [1, SPREAD])
@given(rows=columns)
def test_they_agree_with_plain_python(times: int, rows: list[tuple[int, int, int]]) -> None:
    """Ranks of pairs, groups with several values, repeated and missing numbers."""
    group = np.array([row[0] * times for row in rows], dtype=np.int64)
    value = np.array([row[1] for row in rows], dtype=np.int64)
    pairs = list(zip(group.tolist(), value.tolist(), strict=True))
    ranks = {pair: number for number, pair in enumerate(sorted(set(pairs)))}
    assert dense(group, value).tolist() == [ranks[pair] for pair in pairs]
    assert differ(group, value) == (len(set(pairs)) > len(set(group.tolist())))
    assert repeated(group) == (len(set(group.tolist())) < len(group))
    assert lacks(group, value) == bool(set(group.tolist()) - set(value.tolist()))


@pytest.mark.parametrize("times", [1, SPREAD])
@given(rows=columns, ordered=st.booleans())
def test_rows_come_in_turn(times: int, rows: list[tuple[int, int, int]], *, ordered: bool) -> None:
    """By group and then by number, whether or not they are in order before; marked where the group goes on."""
    rows = sorted(rows, key=lambda row: row[2]) if ordered else rows
    group = np.array([row[0] * times for row in rows], dtype=np.int64)
    number = np.array([row[2] for row in rows], dtype=np.int64)
    places, same = in_turn(group, number)
    found = [(int(group[place]), int(number[place])) for place in places]
    assert found == sorted(zip(group.tolist(), number.tolist(), strict=True))
    assert same.tolist() == [before[0] == after[0] for before, after in pairwise(found)]
