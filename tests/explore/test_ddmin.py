"""Delta debugging: the least part that fails, found with few questions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.campaign.explore.ddmin import ddmin

Items = tuple[int, ...]


def least(items: Items, fails: Callable[[Items], bool]) -> tuple[Items, list[Items]]:
    """What is left of the items, and all that was asked about."""
    asked: list[Items] = []
    search = ddmin(items)
    try:
        part = next(search)
        while True:
            asked.append(part)
            part = search.send(fails(part))
    except StopIteration as done:
        return done.value, asked


@given(st.integers(1, 12), st.lists(st.frozensets(st.integers(0, 11), max_size=4), min_size=1, max_size=3))
def test_of_what_is_left_nothing_can_be_left_out(count: int, causes: list[frozenset[int]]) -> None:
    """Any sets of items that fail together, whatever is beside them: one of them is left, and no more than that."""
    items = tuple(range(count))
    causes = [cause & set(items) for cause in causes]
    found, asked = least(items, lambda part: any(cause <= set(part) for cause in causes))
    assert any(cause <= set(found) for cause in causes)
    assert not any(cause < set(found) for cause in causes)
    assert list(found) == sorted(found)
    assert all(len(part) < count for part in asked)


@pytest.mark.parametrize("count", range(2, 9))
def test_one_cause_is_found_exactly(count: int) -> None:
    """Every single subset of the items as the one cause."""
    items = tuple(range(count))
    for size in range(count + 1):
        for cause in combinations(items, size):
            found, asked = least(items, set(cause).issubset)
            assert found == cause
            assert len(asked) <= count * count + 3 * count


def test_what_fails_by_itself_needs_no_item() -> None:
    """Everything fails, with none of the items as well: so none of them is to blame."""
    assert least((1, 2, 3), lambda part: True)[0] == ()
    assert least((1,), lambda part: True)[0] == ()


@given(st.integers(1, 8), st.lists(st.booleans(), min_size=1, max_size=200))
def test_it_ends_whatever_it_is_told(count: int, answers: list[bool]) -> None:
    """Answers of no rhyme or reason: what it returns is the last part that was said to fail, or all of it."""
    said: list[Items] = [tuple(range(count))]
    given_ = iter(answers)

    def fails(part: Items) -> bool:
        told = next(given_, False)
        if told:
            said.append(part)
        return told

    found, asked = least(tuple(range(count)), fails)
    assert found == said[-1]
    assert all(len(part) < count for part in asked)
