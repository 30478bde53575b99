"""Happenings: what is told around a stall, in order, and nothing that was long before or after it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sample_run import Shape, fault, ns

from chaosk.report.axis import Axis
from chaosk.report.changes import PartitionChange, StateChange
from chaosk.report.happenings import MOST, ClientError, Surroundings, happenings
from chaosk.report.outages import PartitionOutage
from chaosk.report.stalls import Stall


def around(axis: Axis, **fields: Any) -> Surroundings:
    """Surroundings in which nothing happened, but for ``fields``."""
    empty = Surroundings(
        axis=axis, faults=(), partitions=(), controllers=(), brokers=(), zookeepers=(), quorum=(),
        errors=(), rebalances=(), members={},
    )  # fmt: skip
    return replace(empty, **fields)


def stall(who: str = "writer", kind: str = "produce", *, censored: bool = False) -> Stall:
    """Partitions 0 and 3 of orders, from 10 s to 21 s."""
    outage = PartitionOutage(who, kind, ("orders", 0), int(ns(10)), int(ns(21)), censored)
    return Stall(outage, (("orders", 0), ("orders", 3)))


def told(found: Stall, surroundings: Surroundings) -> list[str]:
    """What is told."""
    return [happening.what for happening in happenings(found, surroundings)]


def change(at: float, partition: int, leader: int, isr: set[int], epoch: int = 5) -> PartitionChange:
    """A change of a partition of orders."""
    return PartitionChange(int(ns(at)), "orders", partition, leader, epoch, frozenset(isr), (1, 2, 3))


def test_a_stall_begins_and_ends(axis: Axis) -> None:
    """When nothing else is known, that is."""
    assert told(stall(), around(axis)) == ["sends begin to wait", "the first acknowledgement again"]
    assert told(stall("readers", "consume"), around(axis)) == ["records begin to wait", "the first delivery again"]


def test_what_had_not_ended_has_no_end(axis: Axis) -> None:
    """A censored outage tells of no recovery."""
    assert told(stall(censored=True), around(axis)) == ["sends begin to wait"]


def test_the_fault_is_told_with_its_target(axis: Axis) -> None:
    """Injection, and its verified effect; the undo at 40 s is no part of a stall that ended at 21 s."""
    lines = told(stall(), around(axis, faults=(fault(Shape()),)))
    assert lines[0] == "kill: kill_broker on broker 1 on node1 begins"
    assert "kill: in place" in lines
    assert not any("undone" in line for line in lines)


def test_a_fault_without_targets_is_told_without_them(axis: Axis) -> None:
    """An election of all partitions aims at no node."""
    election = fault(Shape()).model_copy(update={"name": "elect", "step": "elect_leader", "targets": ""})
    assert told(stall(), around(axis, faults=(election,)))[0] == "elect: elect_leader begins"


def test_partitions_that_move_together_are_told_once(axis: Axis) -> None:
    """Two stalled partitions get the same leader in one moment; the first sample is no change."""
    changes = [change(0, p, 1, {1, 2, 3}, 4) for p in (0, 1, 3)]
    changes += [change(19.20, 0, 2, {2, 3}), change(19.21, 3, 2, {2, 3}), change(19.21, 1, 3, {2, 3})]
    lines = told(stall(), around(axis, partitions=tuple(changes)))
    assert lines == [
        "sends begin to wait",
        "orders 0, 3: broker 2 leads (epoch 5), ISR 2, 3",
        "the first acknowledgement again",
    ]


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (change(12, 0, -1, set(), -1), "no leader, ISR "),
        (change(12, 0, 1, {1, 2}, 4), "ISR 1, 2"),
        (change(12, 0, 1, {1, 2, 3}, 5), "epoch 5"),
    ],
)
def test_each_kind_of_change_has_words(axis: Axis, after: PartitionChange, said: str) -> None:
    """No leader, a smaller ISR alone, or only a new epoch."""
    lines = told(stall(), around(axis, partitions=(change(0, 0, 1, {1, 2, 3}, 4), after)))
    assert f"orders 0: {said}" in lines


def test_an_error_is_told_when_it_was_first_met(axis: Axis) -> None:
    """Errors repeat every second; the first one of each name says enough, with what the client said."""
    errors = tuple(ClientError(int(ns(10 + n)), "writer", "_TRANSPORT", "Connection refused") for n in range(9))
    others = (ClientError(int(ns(11)), "other", "_RESOLVE", "x"), ClientError(int(ns(30)), "writer", "_FATAL", "y"))
    lines = told(stall(), around(axis, errors=errors + others))
    assert [line for line in lines if line.startswith("first")] == ["first _TRANSPORT: Connection refused"]


def test_a_group_is_told_of_its_members(axis: Axis) -> None:
    """The rebalances and errors of every probe in the group, and of no other."""
    rebalances = ((int(ns(12)), "a", "revoke"), (int(ns(13)), "b", "lost"), (int(ns(14)), "c", "assign"))
    errors = (ClientError(int(ns(12)), "b", "_ALL_BROKERS_DOWN", "3/3 down"),)
    surroundings = around(axis, rebalances=rebalances, errors=errors, members={"readers": frozenset("ab")})
    lines = told(stall("readers", "consume"), surroundings)
    assert "a: partitions revoked" in lines
    assert "b: partitions lost" in lines
    assert "first _ALL_BROKERS_DOWN: 3/3 down" in lines
    assert not any(line.startswith("c:") for line in lines)


def test_the_first_state_is_no_happening(axis: Axis) -> None:
    """What the watcher saw first is how it was, not that it changed."""
    states = tuple(StateChange(int(ns(at)), who, state) for at, who, state in
                   ((9, 1, "follower"), (9, 2, "leader"), (12, 2, ""), (13, 1, "leader")))  # fmt: skip
    brokers = (StateChange(int(ns(9)), 1, "answers"), StateChange(int(ns(10.5)), 1, "silent"))
    controllers = (StateChange(int(ns(9)), 1, "controller"), StateChange(int(ns(19)), 3, "controller"))
    quorum = (StateChange(int(ns(9)), 102, "leader"), StateChange(int(ns(13.5)), 102, ""))
    lines = told(stall(), around(axis, zookeepers=states, quorum=quorum, brokers=brokers, controllers=controllers))
    assert lines[1:-1] == [
        "broker 1 does not answer",
        "ZooKeeper 2: does not serve",
        "ZooKeeper 1: leader",
        "controller 102: takes no part",
        "broker 3 is the controller",
    ]


def test_of_too_many_the_most_telling_are_kept(axis: Axis) -> None:
    """A storm of rebalances crowds out neither the fault nor the end of the stall."""
    rebalances = tuple((int(ns(10 + n / 100)), "a", "revoke") for n in range(500))
    surroundings = around(axis, rebalances=rebalances, members={"readers": frozenset("a")}, faults=(fault(Shape()),))
    lines = told(stall("readers", "consume"), surroundings)
    assert len(lines) == MOST
    assert lines[-1] == "the first delivery again"
    assert "kill: in place" in lines


def test_they_are_in_order_of_time(axis: Axis) -> None:
    """Whatever was kept is told as it happened."""
    errors = tuple(ClientError(int(ns(20 - n)), "writer", f"_E{n}", "") for n in range(9))
    found = happenings(stall(), around(axis, errors=errors, faults=(fault(Shape()),)))
    assert [happening.at for happening in found] == sorted(happening.at for happening in found)
