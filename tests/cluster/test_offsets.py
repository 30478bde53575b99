"""The four questions about offsets, and what their answers mean together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chaosk.cluster.offsets import ReplicaOffsets, end_offsets_request, offsets_requests, replica_offsets

NOT_LEADER, OFFSET_NOT_AVAILABLE = 6, 78


def answer(*rows: tuple[int, int, int]) -> Any:
    """An answer with (partition, error, offset) of `orders`."""
    partitions = [SimpleNamespace(partition_index=n, error_code=error, offset=offset) for n, error, offset in rows]
    return SimpleNamespace(topics=[SimpleNamespace(name="orders", partitions=partitions)])


def test_asks_every_replica_and_only_leaders() -> None:
    """Log start and end go out as a debugging consumer's, so that followers answer; the others as a consumer's."""
    asked = [
        (one.replica_id, one.topics[0].partitions[0].timestamp, one.isolation_level)
        for one in offsets_requests({"orders": [3]})
    ]
    assert asked == [(-2, -2, 0), (-2, -1, 0), (-1, -1, 0), (-1, -1, 1)]
    assert [one.topics[0].partitions[0].timestamp for one in end_offsets_request({"orders": [3]})] == [-2, -1]


def test_a_leader_tells_all_four() -> None:
    """The broker that answers as a leader is one."""
    told = replica_offsets([answer((0, 0, 2)), answer((0, 0, 9)), answer((0, 0, 8)), answer((0, 0, 7))])
    assert told == (ReplicaOffsets("orders", 0, leader=True, log_start=2, high_watermark=8, last_stable=7, log_end=9),)


def test_a_follower_tells_its_own_log() -> None:
    """It knows where its log starts and ends, and nothing of high watermark or stability."""
    refused = answer((0, NOT_LEADER, -1))
    assert replica_offsets([answer((0, 0, 2)), answer((0, 0, 9)), refused, refused]) == (
        ReplicaOffsets("orders", 0, leader=False, log_start=2, high_watermark=None, last_stable=None, log_end=9),
    )


def test_a_new_leader_that_is_not_ready_is_a_leader() -> None:
    """OFFSET_NOT_AVAILABLE is a leader's answer; the offset stays empty, and what it tells besides still counts."""
    not_ready = answer((0, OFFSET_NOT_AVAILABLE, -1))
    (told,) = replica_offsets([answer((0, 0, 2)), answer((0, 0, 9)), not_ready, not_ready])
    assert told == ReplicaOffsets(
        "orders", 0, leader=True, log_start=2, high_watermark=None, last_stable=None, log_end=9
    )
    (told,) = replica_offsets([answer((0, 0, 2)), answer((0, 0, 9)), answer((0, 0, 8)), not_ready])
    assert (told.leader, told.high_watermark, told.last_stable) == (True, 8, None)


def test_a_replica_it_does_not_have_is_left_out() -> None:
    """Where every question is refused there is nothing to write down."""
    refused = answer((0, NOT_LEADER, -1))
    assert replica_offsets([refused, refused, refused, refused]) == ()


@given(st.lists(st.tuples(st.sampled_from([0, NOT_LEADER]), st.integers(-1, 5)), min_size=4, max_size=4))
def test_never_takes_an_error_for_an_offset(told: list[tuple[int, int]]) -> None:
    """An offset is there exactly where the answer had no error and named one."""
    rows = replica_offsets([answer((0, error, offset)) for error, offset in told])
    wanted = [offset if error == 0 and offset >= 0 else None for error, offset in told]
    found = [(one.log_start, one.log_end, one.high_watermark, one.last_stable) for one in rows]
    if any(error == 0 for error, _ in told[2:]) or wanted[0] is not None or wanted[1] is not None:
        assert found == [tuple(wanted)]
    else:
        assert found == []
