"""Evidence in ranges: few lines for many rows, and no row is left out of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sample_run import ns

from chaosk.report.axis import Axis
from chaosk.report.ranges import GAP, MOST_PLACES, MOST_RANGES, Ranges, told


def row(offset: int | None, at: float | None = 10.0, partition: int = 0, **more: Any) -> dict[str, Any]:
    """A row of evidence about a record of orders."""
    began = None if at is None else int(ns(at))
    return {"topic": "orders", "partition": partition, "offset": offset, "began": began, "ended": began, **more}


def said(check: str, rows: list[dict[str, Any]], axis: Axis) -> list[str]:
    """The ranges of some rows in words."""
    ranges = Ranges(check)
    for one in rows:
        ranges.add(one)
    return [told(one, check, axis) for one in ranges.all()]


def test_neighbouring_offsets_are_one_range(axis: Axis) -> None:
    """With how many records there are and when they were sent."""
    rows = [row(3118 + n, 10.5 + n * 0.005) for n in range(4295)]
    assert said("lost", rows, axis) == [
        "orders-0: offsets 3118 to 7412, 4,295 records, sent +10.50 s to +31.97 s",
    ]


def test_what_lies_apart_is_told_apart(axis: Axis) -> None:
    """Another partition, another group, and offsets with more between them than a marker."""
    rows = [row(1), row(2), row(9), row(1, partition=1), row(2, group="readers")]
    assert said("unseen", rows, axis) == [
        "orders-0: offsets 1 to 2, 2 records, sent +10.00 s",
        "orders-0: offset 9, 1 record, sent +10.00 s",
        "orders-1: offset 1, 1 record, sent +10.00 s",
        "orders-0, readers: offset 2, 1 record, sent +10.00 s",
    ]


def test_the_marker_of_a_transaction_parts_nothing(axis: Axis) -> None:
    """It has an offset of its own between those of records."""
    assert said("lost", [row(1), row(2), row(4)], axis) == ["orders-0: offsets 1 to 4, 3 records, sent +10.00 s"]


def test_offsets_with_two_records_are_told_as_offsets(axis: Axis) -> None:
    """Their number stands beside them only where some between them are none."""
    assert said("inconsistent_offset", [row(n, None) for n in range(5, 9)], axis) == ["orders-0: offsets 5 to 8"]
    assert said("inconsistent_offset", [row(5, None), row(7, None)], axis) == ["orders-0: offsets 5 to 7, 2 of them"]


def test_a_log_that_was_cut_back_is_told_from_its_new_end(axis: Axis) -> None:
    """To the highest offset that had been shown."""
    assert said("truncation_after_ack", [row(90, log_end=40)], axis) == ["orders-0: offsets 40 to 90"]


def test_records_without_an_offset(axis: Axis) -> None:
    """As with acks=0: they are counted, and stand first."""
    assert said("lost", [row(4), row(None), row(None, 12)], axis) == [
        "orders-0: offsets unknown, 2 records, sent +10.00 s to +12.00 s",
        "orders-0: offset 4, 1 record, sent +10.00 s",
    ]


def test_rows_about_something_else_have_no_ranges(axis: Axis) -> None:
    """They are shown as they are."""
    assert said("rebalances", [row(1)], axis) == []
    assert said("lost", [{"group": "readers"}], axis) == []


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 2)), max_size=300))
def test_no_row_is_left_out_in_whatever_order(places: list[tuple[int, int]]) -> None:
    """The ranges hold every offset, do not overlap, are not many, and their rows add up."""
    ranges = Ranges("lost")
    for offset, partition in places:
        ranges.add(row(offset, partition=partition))
    found = ranges.all()
    assert sum(one.rows for one in found) == len(places)
    for offset, partition in places:
        assert any(one.partition == partition and (one.low or 0) <= offset <= (one.high or 0) for one in found)
    for partition in range(3):
        mine = [one for one in found if one.partition == partition]
        assert len(mine) <= MOST_RANGES
        assert all((a.high or 0) < (b.low or 0) for a, b in pairwise(mine))


def test_memory_does_not_grow_with_the_rows() -> None:
    """Neither with scattered offsets nor with partitions; what is not kept is counted."""
    ranges = Ranges("lost")
    for n in range(2000):
        ranges.add(row(n * (GAP + 5)))
        ranges.add(row(1, partition=n))
    assert max(map(len, ranges.places.values())) <= MOST_RANGES
    assert len(ranges.places) == MOST_PLACES
    assert sum(one.rows for one in ranges.all()) + ranges.rest == 4000
