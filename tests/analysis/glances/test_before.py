"""What glances compute, against plain loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from analysis.asking import another, passed_on, reads_of
from analysis.history import History
from hypothesis import given
from hypothesis import strategies as st

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.glances.before import coded, earlier, first, highest, last
from chaosk.analysis.glances.before import passed_on as given_away
from chaosk.analysis.glances.rows import EMPTY, EventRows

_PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(EMPTY, 2**40), st.booleans())).map(
    lambda rows: sorted(rows, key=lambda row: row[0])
)


@given(_PAIRS)
def test_what_came_before_in_each_key(rows: list[tuple[int, int, bool]]) -> None:
    """The highest value so far, the last one that counts, the one before, and whether a row is the first."""
    keys, values = (np.array([row[place] for row in rows], dtype=np.int64) for place in (0, 1))
    has = np.array([row[2] for row in rows], dtype=np.bool_)
    for place, (key, value, _) in enumerate(rows):
        mine = [row for row in rows[: place + 1] if row[0] == key]
        assert highest(keys, values)[place] == max(row[1] for row in mine)
        assert last(keys, values, has)[place] == next((row[1] for row in reversed(mine) if row[2]), EMPTY)
        assert earlier(keys, values)[place] == (mine[-2][1] if len(mine) > 1 else EMPTY)
        assert first(keys)[place] == (len(mine) == 1)
        assert mine[-1][1] == value
    assert len(last(keys, values, has)) == len(highest(keys, values)) == len(rows)


@given(st.lists(st.tuples(st.integers(EMPTY, 5), st.integers(EMPTY, 2**20), st.integers(EMPTY, 9))))
def test_a_code_is_the_same_for_the_same_and_for_nothing_else(rows: list[tuple[int, int, int]]) -> None:
    """However many columns there are, empty ones included."""
    columns = [np.array([row[place] for row in rows], dtype=np.int64) for place in range(3)]
    codes = coded(*columns).tolist()
    assert len(set(zip(rows, codes, strict=True))) == len(set(rows)) == len(set(codes))


def test_a_delivery_after_the_partition_was_given_away(tmp_path: Path) -> None:
    """Offset 22 comes to the reader after the second member was given the partition; the rest comes to its owner."""
    history = History(records=50)
    another(history)
    passed_on(history, 5.6, 22, how=None, probe="second", incarnation=0)
    reads_of(history, 23, probe="second")
    rows = EventRows(read_case(history.write(tmp_path / "run")))
    assert rows.column("reads", "offset")[given_away(rows, "reads", "at")].tolist() == [22]
