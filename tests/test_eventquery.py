"""Choosing among events: conditions, windows and limits on batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.core.errors import UsageError
from chaosk.rundir.events import TABLES
from chaosk.rundir.events.arrow import record_batch
from chaosk.rundir.events.query import Where, Window, parse_where, select, table_of, time_column, window

VALUES = st.lists(st.one_of(st.none(), st.integers(-3, 3)), max_size=30)


def groups(offsets: list[int | None]) -> pa.RecordBatch:
    """Committed offsets of a group."""
    return record_batch("groups", [("g", "orders", number, offset) for number, offset in enumerate(offsets)])


def chosen(
    batches: Iterator[pa.RecordBatch] | list[pa.RecordBatch], *conditions: Where, limit: int | None = None
) -> list[Any]:
    """The offsets of the rows that are chosen."""
    return [row["offset"] for batch in select(batches, conditions, limit) for row in batch.to_pylist()]


@given(VALUES, st.one_of(st.none(), st.integers(-3, 3)))
def test_a_condition_and_its_opposite_share_all_rows(offsets: list[int | None], value: int | None) -> None:
    """Equality as Python has it, emptiness included; the opposite has exactly the other rows."""
    batches = [groups(offsets)]
    assert chosen(batches, Where("offset", value)) == [each for each in offsets if each == value]
    assert chosen(batches, Where("offset", value, negated=True)) == [each for each in offsets if each != value]


@given(VALUES, st.integers(1, 40), st.integers(1, 7))
def test_a_limit_counts_rows_and_not_batches(offsets: list[int | None], limit: int, size: int) -> None:
    """However the rows are cut into batches, the first ones are chosen."""
    parts = [offsets[at : at + size] for at in range(0, len(offsets), size)]
    assert chosen([groups(part) for part in parts], limit=limit) == offsets[:limit]


def test_a_limit_reads_no_further_than_it_must() -> None:
    """A person who wants three rows does not wait for ten million."""
    read = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(100):
            read.append(number)
            yield groups([number, number])

    assert chosen(batches(), limit=3) == [0, 0, 1]
    assert read == [0, 1]


def test_batches_without_a_row_are_left_out() -> None:
    """Nothing empty reaches the printer."""
    batches = [groups([1]), groups([2]), groups([])]
    assert [batch.num_rows for batch in select(batches, [Where("offset", 2)])] == [1]


@pytest.mark.parametrize(
    ("begin", "end", "seconds"), [(None, None, [0, 1, 2, 3]), (1, None, [1, 2, 3]), (None, 2, [0, 1]), (1, 3, [1, 2])]
)
def test_a_window_has_its_beginning_and_not_its_end(begin: float | None, end: float | None, seconds: list[int]) -> None:
    """So windows that follow each other share no row."""
    table = TABLES["clocks"]
    batch = record_batch("clocks", [(5_000_000_000 + second * 1_000_000_000, second) for second in range(4)])
    span = window(table, 5_000_000_000, begin, end)
    rows = [row["wall"] for each in select([batch], [span] if span else []) for row in each.to_pylist()]
    assert rows == seconds


def test_a_row_without_a_time_is_in_no_window() -> None:
    """A fault that never took effect did not do so at any time."""
    fault = ("f", "kill_broker", "broker 1", 10, None, None, None, False, False, "it was dead")
    batch = record_batch("faults", [fault])
    assert list(select([batch], [Window("applied", None, 100)])) == []
    assert sum(each.num_rows for each in select([batch], [Window("invoked", 10, 11)])) == 1


def test_rows_are_chosen_by_the_first_time_of_their_table() -> None:
    """Of a health check when it was due, of a topic that was made again when it was gone; a count is no time."""
    first = {name: time_column(TABLES[name]) for name in ("health_checks", "remakings", "ends", "markers")}
    assert first == {"health_checks": "due", "remakings": "gone", "ends": "at", "markers": None}


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("sends", "scheduled"),
        ("reads", "at"),
        ("polls", "invoked"),
        ("phases", "began"),
        ("groups", None),
        ("audit", None),
    ],
)
def test_when_a_row_happened(name: str, column: str | None) -> None:
    """The column that windows look at, where there is one."""
    assert time_column(TABLES[name]) == column


@pytest.mark.parametrize("text", ["", "=", "outcome", "out come=ok", "outcome<ok", "=ok"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    """With an example of one."""
    with pytest.raises(UsageError, match="write column=value"):
        parse_where(TABLES["sends"], text)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("outcome=ok", Where("outcome", "ok")),
        ("error=a=b", Where("error", "a=b")),
        ("error!=", Where("error", None, negated=True)),
        ("seq=-5", Where("seq", -5)),
    ],
)
def test_conditions_are_read(text: str, condition: Where) -> None:
    """The first sign decides; the rest is the value."""
    assert parse_where(TABLES["sends"], text) == condition


def test_unknown_tables_come_with_the_nearest_known_one() -> None:
    """And a name that is like none with all of them."""
    with pytest.raises(UsageError, match="did you mean 'commits'"):
        table_of("comits")
    with pytest.raises(UsageError, match="write one of"):
        table_of("xyzzy")
