"""What is drawn of records that went wrong: all of them, when they were sent, on the rates of who sent them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sample_run import ns

from chaosk.report.axis import Axis
from chaosk.report.marks import Marks


def row(seq: int, at: float | None, **more: Any) -> dict[str, Any]:
    """A row about a record of the writer."""
    began = None if at is None else int(ns(at))
    return {"producer": "writer", "producer_incarnation": 0, "seq": seq, "began": began, **more}


def test_they_stand_where_they_were_sent(axis: Axis) -> None:
    """By kind, in the bucket of their moment."""
    marks = Marks(axis)
    for n in range(5):
        marks.add("lost", row(n, 10.1))
    marks.add("send_order", row(9, 20.0))
    found = marks.of("writer")
    assert list(found) == ["lost", "reordered"]
    assert found["lost"][axis.bucket(ns([10.1]))[0]] == 5
    assert found["lost"].sum() == 5
    assert found["reordered"].sum() == 1
    assert marks.of("reader") == {}


def test_when_a_record_was_due_counts_more_than_the_row(axis: Axis) -> None:
    """The row of a skipped record begins when its reader did not see it."""
    marks = Marks(axis, {("writer", 0): np.array([int(ns(3.0))])})
    marks.add("commit_skip", row(0, 40.0, group="readers"))
    assert marks.of("writer")["unseen"][axis.bucket(ns([3.0]))[0]] == 1


def test_a_record_that_two_checks_or_two_groups_find_is_drawn_once(axis: Axis) -> None:
    """The most that any of them finds."""
    marks = Marks(axis)
    for n in range(4):
        marks.add("unseen", row(n, 10.0, group="one"))
        marks.add("unseen", row(n, 10.0, group="other"))
    for n in range(3):
        marks.add("commit_skip", row(n, 10.0, group="one"))
    assert marks.of("writer")["unseen"].sum() == 4


def test_many_rows_are_counted_in_little_memory(axis: Axis) -> None:
    """All of them."""
    marks = Marks(axis)
    for n in range(120_000):
        marks.add("lost", row(n, 10.0))
    assert marks.of("writer")["lost"].sum() == 120_000


def test_what_says_nothing_of_a_sender_is_left_out(axis: Axis) -> None:
    """Offsets, outages, rows without a moment."""
    marks = Marks(axis)
    marks.add("inconsistent_offset", {"topic": "orders", "partition": 0, "offset": 1, "began": None})
    marks.add("lost", row(1, None))
    assert marks.of("writer") == {}


def test_copies_and_what_a_group_passed_are_drawn_as_well(axis: Axis) -> None:
    """A copy by its producer; what was never delivered by who sent it; what came out of order by who was given it."""
    marks = Marks(axis)
    marks.add("duplicate_in_log", row(1, 10.0))
    marks.add("unseen", row(2, 11.0, group="readers"))
    marks.add("lost_write", row(3, 12.0))
    marks.add("poll_order", {"probe": "reader", "incarnation": 0, "began": int(ns(13.0))})
    assert {kind: int(counts.sum()) for kind, counts in marks.of("writer").items()} == {
        "lost": 1, "unseen": 1, "duplicated": 1,
    }  # fmt: skip
    assert {kind: int(counts.sum()) for kind, counts in marks.of("reader").items()} == {"reordered": 1}
