"""Deliveries as rows: order, places and identities of whole polls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Message
from hypothesis import given
from hypothesis import strategies as st

from chaosk.probes._ownership import Ownership
from chaosk.probes._reads import Reads
from chaosk.probes._tally import Tally
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.rundir.events.payload import Payload, encode


class Bench:
    """A member that holds partitions 0 and 1, with a real log."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = LiveLog(folder)
        self.held = Ownership()
        self.held.given([("orders", 0), ("orders", 1)])
        self.reads = Reads(self._log, ("reader", 1, "readers"), "run", self.held, Tally())

    def rows(self) -> list[dict[str, Any]]:
        """What was taken, in the log."""
        self.reads.move()
        self._log.close()
        path = self._folder / "reads.arrows"
        return list(read_live(path).table.to_pylist()) if path.exists() else []


def record(partition: int, offset: int, seq: int, producer: str = "writer") -> Message:
    """A record of this run."""
    value = encode("run", Payload(producer, 0, seq, 100 + seq))
    return Message(topic="orders", partition=partition, offset=offset, value=value, leader_epoch=4)


def test_a_delivery(tmp_path: Path) -> None:
    """Every column of it."""
    bench = Bench(tmp_path / "w")
    assert bench.reads.take([record(1, 7, 42)], 3, 1000) == {("orders", 1): 8}
    assert bench.rows() == [{
        "probe": "reader", "incarnation": 1, "group": "readers", "assignment": 0, "poll": 3, "n": 0, "topic": "orders",
        "partition": 1, "offset": 7, "producer": "writer", "producer_incarnation": 0, "seq": 42,
        "scheduled": 142, "intact": True, "leader_epoch": 4, "at": 1000, "txn": None,
    }]  # fmt: skip


def test_polls_keep_their_number_time_and_order(tmp_path: Path) -> None:
    """Two polls that go to the log together are still told apart."""
    bench = Bench(tmp_path / "w")
    assert bench.reads.take([record(0, 5, 0), record(1, 9, 1), record(0, 6, 2)], 10, 100) == {
        ("orders", 0): 7, ("orders", 1): 10,
    }  # fmt: skip
    bench.reads.take([record(0, 7, 3)], 12, 200)
    assert [(row["n"], row["poll"], row["at"], row["seq"]) for row in bench.rows()] == [
        (0, 10, 100, 0), (1, 10, 100, 1), (2, 10, 100, 2), (3, 12, 200, 3),
    ]  # fmt: skip


def test_numbers_go_on_after_a_move(tmp_path: Path) -> None:
    """The delivery order counts over the whole incarnation, however often rows go to the log."""
    bench = Bench(tmp_path / "w")
    for offset in range(5):
        bench.reads.take([record(0, offset, offset)], offset, offset)
        assert bench.reads.waiting
        bench.reads.move()
        assert not bench.reads.waiting
    assert [row["n"] for row in bench.rows()] == [0, 1, 2, 3, 4]
    assert bench.reads.rows == 5


def test_the_assignment_is_that_of_the_delivery(tmp_path: Path) -> None:
    """A rebalance between delivery and writing does not change what was delivered under which assignment."""
    bench = Bench(tmp_path / "w")
    bench.reads.take([record(0, 5, 0)], 0, 0)
    bench.held.taken([("orders", 0)], "revoke")
    bench.held.given([("orders", 0)])
    bench.reads.take([record(0, 6, 1)], 1, 1)
    assert [(row["offset"], row["assignment"]) for row in bench.rows()] == [(5, 0), (6, 1)]


def test_a_delivery_of_a_partition_that_is_not_held_shows(tmp_path: Path) -> None:
    """Nobody should see one; if it comes, the log says so instead of guessing an assignment."""
    bench = Bench(tmp_path / "w")
    bench.reads.take([Message(topic="orders", partition=9, offset=1, value=b"x")], 0, 0)
    assert [(row["partition"], row["assignment"], row["intact"]) for row in bench.rows()] == [(9, -1, False)]


def test_nothing_taken_is_nothing_written(tmp_path: Path) -> None:
    """A quiet consumer has no rows."""
    assert Bench(tmp_path / "w").rows() == []


deliveries = st.tuples(
    st.integers(0, 1), st.one_of(st.none(), st.tuples(st.sampled_from(["writer", "other"]), st.integers(0, 2**40)))
)


@given(st.lists(st.lists(deliveries, min_size=1, max_size=12), max_size=6))
def test_what_was_delivered_is_what_is_written(
    tmp_path_factory: pytest.TempPathFactory, polls: list[list[tuple[int, tuple[str, int] | None]]]
) -> None:
    """Records of several producers and strangers, in any mix over any polls: each with its own identity and place."""
    bench = Bench(tmp_path_factory.mktemp("reads") / "w")
    following, expected = {0: 0, 1: 0}, []
    for number, poll in enumerate(polls):
        messages = []
        for partition, who in poll:
            offset = following[partition]
            following[partition] += 1
            foreign = Message(topic="orders", partition=partition, offset=offset, value=b"not ours")
            messages.append(record(partition, offset, who[1], who[0]) if who else foreign)
            due = 100 + who[1] if who else None
            expected.append((number, partition, offset, *(who or (None, None)), due, who is not None))
        positions = bench.reads.take(messages, number, number)
        assert positions == {("orders", partition): following[partition] for partition in {each[0] for each in poll}}
    columns = ("poll", "partition", "offset", "producer", "seq", "scheduled", "intact")
    rows = bench.rows()
    assert [tuple(row[column] for column in columns) for row in rows] == expected
    assert [row["n"] for row in rows] == list(range(len(rows)))
