"""Evidence: every cell of every row, moments as seconds of the run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import ZERO, lost_rows, ns

from chaosk.report.evidence import evidence_table, is_moment
from chaosk.rundir.verdict import Cell


def test_the_first_offset_that_waits_is_no_moment() -> None:
    """Another table has moments of that name, and on a machine that just started both are small numbers."""
    table = evidence_table([{"topic": "orders", "first": 501, "at": 1_571_000_000_000}], 1_570_000_000_000)
    assert table.rows == (("orders", "501", "+1.00 s"),)


def test_rows_have_all_columns_in_order() -> None:
    """A column that only a later row has is one of all; what a row lacks is empty."""
    found = evidence_table([{"a": 1, "b": "x"}, {"c": True, "a": 2}], 0)
    assert found.columns == ("a", "b", "c")
    assert found.rows == (("1", "x", ""), ("2", "", "yes"))


def test_moments_are_seconds_of_the_run() -> None:
    """The clock of the plots, so that a row can be found in them; offsets and numbers stay as they are."""
    found = evidence_table(lost_rows(1), ZERO)
    row = dict(zip(found.columns, found.rows[0], strict=True))
    assert (row["completed"], row["offset"], row["seq"]) == ("+12.00 s", "1200", "7000")


@pytest.mark.parametrize(
    "column", ["at", "began", "ended", "scheduled", "completed", "last_at", "heal_invoked", "read_at"]
)
def test_columns_of_time_are_known(column: str) -> None:
    """By the names that the event tables and the checks use."""
    assert is_moment(column, int(ns(3)), ZERO)


@pytest.mark.parametrize(
    "column", ["offset", "seq", "partition", "deliveries", "epoch", "broker", "read", "acknowledged"]
)
def test_other_columns_are_no_moments(column: str) -> None:
    """Even if their number happens to be near: checks count what was ``read`` and ``acknowledged``."""
    assert not is_moment(column, int(ns(3)), ZERO)


def test_a_number_far_from_the_run_is_no_moment() -> None:
    """A column of that name that holds something else is shown as it is."""
    assert not is_moment("at", 7, 10**18)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, ""), (True, "yes"), (False, "no"), ((1, 2), "1, 2"), (0.123456789, "0.123457"), ("x", "x")],
)
def test_cells_of_every_kind(value: Cell, shown: str) -> None:
    """Yes and no are words, lists have commas."""
    assert evidence_table([{"value": value}], 0).rows == ((shown,),)


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers() | st.none() | st.text(), max_size=6)))
def test_tables_are_rectangular(rows: list[dict[str, Cell]]) -> None:
    """Whatever the rows, each has a cell for each column."""
    found = evidence_table(rows, 0)
    assert len(found.rows) == len(rows)
    assert all(len(row) == len(found.columns) for row in found.rows)
