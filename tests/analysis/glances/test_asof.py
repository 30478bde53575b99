"""What glances ask of rows with a key and a time: the last one until a moment, and the highest number before it."""

from __future__ import annotations

import numpy as np
import pytest

from chaosk.analysis.glances import asof
from chaosk.analysis.glances.asof import highest_before, last_until
from chaosk.analysis.glances.rows import EMPTY, SPARE, Numbers


def numbers(*values: int) -> Numbers:
    """An array as the tables' columns are."""
    return np.array(values, dtype=np.int64)


KEYS, TIMES = numbers(7, 5, 7, 5), numbers(10, 10, 30, 20)


@pytest.mark.parametrize(
    ("key", "time", "row"), [(7, 9, EMPTY), (7, 10, 0), (7, 29, 0), (7, 99, 2), (5, 30, 3), (6, 99, EMPTY)]
)
def test_the_last_row_until_a_moment(key: int, time: int, row: int) -> None:
    """Of the same key only, the moment included."""
    assert last_until(KEYS, TIMES, numbers(key), numbers(time)).tolist() == [row]


@pytest.mark.parametrize("spare", [0, SPARE])
@pytest.mark.parametrize(
    ("key", "time", "highest"), [(7, 10, EMPTY), (7, 11, 100), (7, 31, 100), (5, 20, 3), (5, 21, 8), (4, 99, EMPTY)]
)
def test_the_highest_number_before_a_moment(
    key: int, time: int, highest: int, spare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same key only, the moment excluded; a lower number that comes later changes nothing.

    The same if rows are sorted (no memory to spare), and if they are counted.
    """
    monkeypatch.setattr(asof, "SPARE", spare - 4)
    values = numbers(100, 3, 50, 8)
    assert highest_before(KEYS, TIMES, values, numbers(key), numbers(time)).tolist() == [highest]


def test_without_rows_there_is_nothing_before() -> None:
    """No rows, or no moments: empty answers of the right length."""
    none = numbers()
    assert last_until(none, none, numbers(1, 2), numbers(5, 5)).tolist() == [EMPTY, EMPTY]
    assert highest_before(none, none, none, numbers(1), numbers(5)).tolist() == [EMPTY]
    assert last_until(KEYS, TIMES, none, none).tolist() == []
