"""Stalls: outages that belong together, and what became of the sends that waited in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sample_run import ns

from chaosk.report.outages import PartitionOutage
from chaosk.report.stalls import LATE, MOST_STALLS, Stall, named, outcomes, stalls
from chaosk.report.tables import Frame

Make = Callable[[str, list[dict[str, Any]]], Frame]


def out(partition: int, began: float, ended: float, who: str = "writer", kind: str = "produce") -> PartitionOutage:
    """An outage of a partition of orders, in seconds."""
    return PartitionOutage(who, kind, ("orders", partition), int(ns(began)), int(ns(ended)))


def send(due: float, done: float | None, outcome: str = "ok", **more: Any) -> dict[str, Any]:
    """A send to orders 0."""
    row = {"probe": "writer", "topic": "orders", "partition": 0, "outcome": outcome, "scheduled": int(ns(due))}
    return {**row, "completed": None if done is None else int(ns(done)), **more}


def test_partitions_that_stall_together_are_one_stall() -> None:
    """The partitions of one dead leader come and go within moments of each other."""
    (only,) = stalls([out(0, 10, 21), out(3, 10.2, 21.4)])
    assert only.places == (("orders", 0), ("orders", 3))
    assert only.longest.place == ("orders", 3)


@pytest.mark.parametrize(
    "other", [out(3, 13, 21), out(3, 10, 30), out(0, 10, 21, "other"), out(0, 10, 21, "writer", "consume")]
)
def test_what_differs_is_another_stall(other: PartitionOutage) -> None:
    """Another begin, another end, another probe or another kind of work."""
    assert len(stalls([out(0, 10, 21), other])) == 2


def test_the_longest_are_told_by_time() -> None:
    """Of many stalls the longest are kept, and listed as they happened."""
    found = stalls([out(0, 20.0 * n, 20.0 * n + 1 + n % 10) for n in range(20)])
    assert len(found) == MOST_STALLS
    begins = [stall.longest.began for stall in found]
    assert begins == sorted(begins)
    assert min(stall.longest.seconds for stall in found) >= 8


def test_sends_outstanding_are_counted_by_how_they_ended(frame: Make) -> None:
    """Those due before the end and unknown at the begin: late, failed by name, uncertain, never known."""
    rows = [
        send(9, 9.1),  # before
        send(9.9, 21),  # waited
        send(12, 21.1),
        send(12, 15, "fail", error="_QUEUE_FULL"),
        send(13, 40, "info", error="_MSG_TIMED_OUT"),
        send(14, None, "info"),
        send(22, 22.1),  # after
    ]
    (count,) = outcomes([Stall(out(0, 10, 21), (("orders", 0),))], [frame("sends", rows)])
    assert count == {LATE: 2, "_QUEUE_FULL": 1, "_MSG_TIMED_OUT": 1, "info": 1}


def test_other_partitions_and_probes_are_not_counted(frame: Make) -> None:
    """Only what waited for the stalled partitions; a send without a partition waited for any of its topic."""
    rows = [
        send(12, 21.1, partition=1),
        send(12, 21.1, probe="other"),
        send(12, 21.1, topic="payments"),
        send(12, 40, "fail", partition=None, error="_TIMED_OUT_QUEUE"),
        send(12, 40, "fail", partition=None, topic="payments", error="_TIMED_OUT_QUEUE"),
    ]
    (count,) = outcomes([Stall(out(0, 10, 21), (("orders", 0),))], [frame("sends", rows)])
    assert count == {"_TIMED_OUT_QUEUE": 1}


def test_batches_add_up(frame: Make) -> None:
    """Two batches count what one of all their rows counts."""
    rows = [send(10 + n / 10, 21 + n / 100) for n in range(50)]
    stall = Stall(out(0, 10, 21), (("orders", 0),))
    (whole,) = outcomes([stall], [frame("sends", rows)])
    (parts,) = outcomes([stall], [frame("sends", rows[:20]), frame("sends", rows[20:])])
    assert whole == parts == {LATE: 50}


def test_a_consumers_stall_has_no_sends(frame: Make) -> None:
    """Its rows are not read at all; it keeps its place in the answer."""
    consumer = Stall(out(0, 10, 21, "readers", "consume"), (("orders", 0),))
    producer = Stall(out(0, 10, 21), (("orders", 0),))
    counts = outcomes([consumer, producer], [frame("sends", [send(12, 21)])])
    assert [sum(count.values()) for count in counts] == [0, 1]


def test_partitions_are_named_by_topic() -> None:
    """Many of them are shortened."""
    assert named([("orders", 3), ("orders", 0), ("pay", 1)]) == "orders 0, 3; pay 1"
    assert named(("orders", n) for n in range(100)) == "orders 0, 1, 2, 3, 4, 5, 6, 7 and 92 more"
