"""Turning points: the last change that can have ended an outage, and none that cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_run import ns

from chaosk.report.axis import Axis
from chaosk.report.changes import PartitionChange
from chaosk.report.happenings import Surroundings
from chaosk.report.outages import PartitionOutage
from chaosk.report.turning_points import turning_point

OUTAGE = PartitionOutage("writer", "produce", ("orders", 0), int(ns(10)), int(ns(21)))


def around(axis: Axis, *changes: PartitionChange, rebalances: tuple[tuple[int, str, str], ...] = ()) -> Surroundings:
    """Surroundings in which only partitions and groups change."""
    return Surroundings(axis, (), changes, (), (), (), (), (), rebalances, {"readers": frozenset({"a", "b"})})


def change(at: float, leader: int, isr: str = "123", topic: str = "orders") -> PartitionChange:
    """A change of partition 0; the ISR as digits."""
    return PartitionChange(int(ns(at)), topic, 0, leader, 4, frozenset(map(int, isr)), (1, 2, 3))


@pytest.mark.parametrize(
    ("second", "until"),
    [
        (change(15, 2, "23"), "until broker 2 led orders 0"),
        (change(15, 1, "13"), "until broker 2 was out of the ISR of orders 0"),
        (change(15, 1, "1"), "until broker 2, 3 was out of the ISR of orders 0"),
        (change(9, 2), "until broker 2 led orders 0"),
        (change(21.4, 2), "until broker 2 led orders 0"),
        (change(7, 2), None),
        (change(22, 2), None),
        (change(15, 1, "123"), None),
        (change(15, -1, ""), None),
        (change(15, 2, topic="pay"), None),
    ],
)
def test_what_turns_and_what_does_not(axis: Axis, second: PartitionChange, until: str | None) -> None:
    """A new leader or a smaller ISR of the very partition, inside the outage or close to it."""
    turn = turning_point(OUTAGE, around(axis, change(0, 1), second))
    assert (turn.until if turn else None) == until


def test_of_several_the_last_one_counts(axis: Axis) -> None:
    """Each of them was necessary; the last let the record through."""
    turn = turning_point(OUTAGE, around(axis, change(0, 1), change(12, 2), change(14, 3), change(20, 3, "3")))
    assert turn is not None
    assert turn.at == int(ns(20))


def test_a_group_turns_when_it_is_given_partitions(axis: Axis) -> None:
    """By any of its members; what another group, or a producer, is given says nothing."""
    told = (
        (int(ns(9)), "a", "assign"),
        (int(ns(15)), "b", "assign"),
        (int(ns(16)), "c", "assign"),
        (int(ns(17)), "a", "lost"),
    )
    reader = replace(OUTAGE, who="readers", kind="consume")
    turn = turning_point(reader, around(axis, rebalances=told))
    assert turn is not None
    assert (turn.at, turn.until) == (int(ns(15)), "until the group had rebalanced")
    assert turning_point(OUTAGE, around(axis, rebalances=told)) is None


def test_nothing_changed_nothing_turned(axis: Axis) -> None:
    """Then the way to the leader was what waited."""
    assert turning_point(OUTAGE, around(axis)) is None
    assert turning_point(OUTAGE, around(axis, change(12, 2))) is None
