"""When all went well again: pure, from cells of a quarter of a second."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaosk.analysis.recovery_times import HOLD, Cells, first_well, grouped

CELL = 250_000_000
N = HOLD // CELL


def cells(marks: str, *, short: set[int] | None = None) -> Cells:
    """Cells from a picture: ``.`` all prompt, ``x`` none prompt, a space nothing due."""
    rows = [("w", place, 100, 100 if mark == "." else 0) for place, mark in enumerate(marks) if mark != " "]
    return Cells(CELL, grouped(rows), short or set())


def test_it_counts_from_when_it_stays_well() -> None:
    """Well for a moment is not recovered."""
    picture = "xxxx" + "." * (N - 1) + "xx" + "." * (2 * N)
    assert first_well(cells(picture), 0, len(picture) * CELL) == (4 + N - 1 + 2) * CELL


def test_a_fault_that_nobody_felt_takes_no_time() -> None:
    """All well from the start: the time begins where it was asked for, not at a cell's border."""
    assert first_well(cells("." * 40), CELL + 5, 40 * CELL) == CELL + 5


def test_one_in_a_hundred_may_be_late() -> None:
    """99 % of the records due in the three seconds, over all cells together."""
    rows = [("w", place, 100, 99) for place in range(40)]
    assert first_well(Cells(CELL, grouped(rows), set()), 0, 40 * CELL) == 0
    rows[0] = ("w", 0, 100, 98)
    assert first_well(Cells(CELL, grouped(rows), set()), 0, 40 * CELL) == CELL


def test_every_stream_has_to_be_well() -> None:
    """The producer is, the reader is not yet."""
    rows = [("w", place, 10, 10) for place in range(40)] + [
        ("r", place, 10, 0 if place < 8 else 10) for place in range(40)
    ]
    assert first_well(Cells(CELL, grouped(rows), set()), 0, 40 * CELL) == 8 * CELL


def test_a_partition_without_all_its_replicas_is_not_well() -> None:
    """However promptly the probes are served."""
    assert first_well(cells("." * 40, short=set(range(10))), 0, 40 * CELL) == 10 * CELL


def test_what_never_recovered_has_no_moment() -> None:
    """And so has what was well too late to be proven."""
    assert first_well(cells("x" * 40), 0, 40 * CELL) is None
    assert first_well(cells("x" * 30 + "." * (N - 1)), 0, (30 + N - 1) * CELL) is None


def test_silence_is_not_well() -> None:
    """Where nothing was due, nothing is proven."""
    assert first_well(cells(" " * 40), 0, 40 * CELL) is None


@given(st.text(alphabet=".x ", max_size=60), st.integers(0, 20))
def test_the_moment_is_the_first_that_holds(picture: str, after: int) -> None:
    """No earlier one holds, and this one does, to the letter."""
    known = cells(picture)
    found = first_well(known, after * CELL, len(picture) * CELL)
    holding = [c for c in range(after, len(picture) - N + 1) if known.well(c)]
    assert found == (holding[0] * CELL if holding else None)
    for cell in holding:
        assert "x" not in picture[cell : cell + N]
