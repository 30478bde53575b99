"""Whether replicas hold the same: batch by batch, and unknown where one of them is silent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.run.replica_logs.copies import Copies, copies
from chaosk.run.replica_logs.parse import Batch, DumpedLog


def log(*batches: Batch, trouble: str | None = None) -> DumpedLog:
    """One replica's."""
    return DumpedLog("orders-0", first=0, end=100, batches=list(batches), trouble=trouble)


A, B, C = Batch(0, 9, 3, 11), Batch(10, 19, 3, 22), Batch(20, 29, 4, 33)


def test_replicas_with_equal_batches_agree() -> None:
    """Also beyond the end of all of them, where none has anything; one stretch, whatever is in it."""
    assert copies(5, 60, {0: log(A, B, C), 1: log(C, B, A), 2: log(A, B, C)}) == (Copies(5, 60, same=True),)


def test_replicas_that_all_hold_nothing_agree() -> None:
    """The record is on none of them."""
    assert copies(40, 50, {0: log(), 1: log(A)}) == (Copies(40, 50, same=True),)


@pytest.mark.parametrize(
    "other", [Batch(10, 19, 3, 23), Batch(10, 19, 4, 22), Batch(10, 18, 3, 22)], ids=["crc", "epoch", "length"]
)
def test_a_batch_that_differs_in_anything_is_told(other: Batch) -> None:
    """By broker what it holds, at the first of those offsets; before and behind it they agree."""
    before, apart, *rest = copies(0, 29, {0: log(A, B, C), 1: log(A, other, C)})
    assert before == Copies(0, 9, same=True)
    assert (apart.first, apart.last, apart.same) == (10, 19, False)
    assert apart.held == (
        f"broker 0: 10 to 19, leader epoch 3, crc 00000016; broker 1: 10 to {other.last}, "
        f"leader epoch {other.leader_epoch}, crc {other.crc:08x}"
    )
    assert rest == [Copies(20, 29, same=True)]


def test_a_replica_that_has_more_is_told() -> None:
    """It holds what the others have not: the record may be there."""
    (agreed, apart) = copies(15, 29, {0: log(A, B), 1: log(A, B, C)})
    assert (agreed.last, apart.first, apart.same) == (19, 20, False)
    assert apart.held == "broker 0: nothing; broker 1: 20 to 29, leader epoch 4, crc 00000021"


def test_where_one_replica_is_silent_nobody_knows() -> None:
    """Although the others agree: the record may be on just that one."""
    assert copies(0, 9, {0: log(A), 2: log(A, trouble="its host does not answer"), 1: log(A)}) == (
        Copies(0, 9, why="broker 2: its host does not answer"),
    )
    assert copies(0, 9, {}) == (Copies(0, 9, why="it has no replica"),)


BATCHES = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 2)), max_size=8).map(
    lambda some: [
        Batch(sum(n for n, _ in some[:i]), sum(n for n, _ in some[: i + 1]) - 1, 0, crc)
        for i, (_, crc) in enumerate(some)
    ]
)


@given(st.lists(BATCHES, min_size=1, max_size=3), st.integers(0, 20), st.integers(0, 20))
def test_every_offset_is_told_once_and_rightly(logs: list[list[Batch]], one: int, other: int) -> None:
    """Offset by offset, by looking each up in each replica: the stretches cover them all and say the same."""
    first, last = min(one, other), max(one, other)
    told = copies(first, last, {number: log(*batches) for number, batches in enumerate(logs)})
    by_offset = {offset: piece.same for piece in told for offset in range(piece.first, piece.last + 1)}
    assert sum(piece.last - piece.first + 1 for piece in told) == len(by_offset)

    def at(batches: list[Batch], offset: int) -> Batch | None:
        return next((batch for batch in batches if batch.first <= offset <= batch.last), None)

    wanted = {offset: len({at(batches, offset) for batches in logs}) == 1 for offset in range(first, last + 1)}
    assert by_offset == wanted
