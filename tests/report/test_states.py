"""States of the cluster: before, during and after side by side, differences marked."""

from __future__ import annotations

from typing import Any

import pytest
from sample_run import Shape, snapshot

from chaosk.cluster.snapshot import Snapshot
from chaosk.cluster.views import PartitionView
from chaosk.report.states import MOST_ROWS, Replica, StateRow, replica_text, state_table


def table(shape: Shape | None = None) -> dict[str, StateRow]:
    """The rows of the sample run by name."""
    shape = shape or Shape()
    found = state_table({"before": snapshot(-3, shape), "during": snapshot(30, shape), "after": snapshot(59, shape)})
    assert found.columns == ("before", "during", "after")
    return {row.name: row for row in found.rows}


def test_a_partition_shows_leader_isr_and_who_is_out() -> None:
    """In the order of assignment, preferred leader first."""
    before, during, after = table()["orders 0"].cells
    assert [(replica.broker, replica.role) for replica in during.replicas] == [
        (1, "out"),
        (2, "leads"),
        (3, "in sync"),
    ]
    assert (before.text, during.text) == ("leader 1, ISR 1 2 3", "leader 2, ISR 2 3, out 1")
    assert after.replicas == before.replicas


def test_who_says_otherwise_is_told() -> None:
    """A broker that was cut off holds itself to be the leader still: that it says so is told beside what the rest say.

    ``said`` as ``chaosk.cluster.snapshot`` writes it; a state without it has an empty cell, one that is odd as well.
    """
    said = {"broker": 1, "topic": "orders", "partition": 0, "leader": 1, "leader_epoch": 4, "isr": [1, 2, 3]}
    other = said | {"broker": 3, "leader": -1, "isr": []}
    during = {**snapshot(30, Shape()), "said": [said, other, 7]}
    found = state_table({"before": snapshot(-3, Shape()), "during": during, "after": {"said": 7}})
    row = next(row for row in found.rows if row.name == "orders 0, other views")
    assert [(cell.text, cell.changed) for cell in row.cells] == [
        ("", False),
        (
            "broker 1 reports: leader 1 (epoch 4), ISR 1 2 3; broker 3 reports: no leader (epoch 4), ISR empty",
            True,
        ),
        ("", False),
    ]


def test_what_differs_from_before_is_marked() -> None:
    """During the fault, and what is still different after it: the controller did not come home."""
    rows = table()
    assert [cell.changed for cell in rows["orders 0"].cells] == [False, True, False]
    assert [cell.changed for cell in rows["controller"].cells] == [False, True, True]
    assert not rows["ZooKeeper 2"].changed


def test_what_did_not_come_back_is_named() -> None:
    """The controller that stayed where it went, a node that does not serve: an operator must not have to search."""
    shape = Shape()
    after = {**snapshot(59, shape), "zookeepers": {"1": None, "2": "leader", "3": "follower"}}
    found = state_table({"before": snapshot(-3, shape), "during": snapshot(30, shape), "after": after})
    assert found.still_different == ("controller", "ZooKeeper 1")


def test_without_a_look_afterwards_nothing_is_claimed() -> None:
    """Neither that all is as before nor that it is not."""
    shape = Shape()
    assert state_table({"before": snapshot(-3, shape), "during": snapshot(30, shape)}).still_different == ()
    assert state_table({"after": snapshot(30, shape)}).still_different == ()


def test_brokers_that_answer_are_told_from_those_that_are_listed() -> None:
    """The cluster may hold a broker to be alive that does not answer."""
    shape = Shape()
    found = state_table({"before": snapshot(-3, shape), "during": snapshot(12, shape)})
    rows = {row.name: [cell.text for cell in row.cells] for row in found.rows}
    assert rows["brokers in the cluster"] == ["1, 2, 3", "1, 2, 3"]
    assert rows["brokers that answer"] == ["1, 2, 3", "2, 3"]


def test_the_clusters_own_snapshot_is_understood() -> None:
    """What chaosk.cluster writes is what is read here, field by field."""
    view = PartitionView(topic="orders", partition=0, leader=2, leader_epoch=5, replicas=(1, 2), isr=(2,))
    taken = Snapshot(
        at=1, wall=2, controller=None, brokers=(2,), answering=(2,), zookeepers={1: "leader", 2: None},
        partitions=(view,),
    )  # fmt: skip
    found = state_table({"before": taken.model_dump(mode="json")})
    rows = {row.name: row.cells[0].text for row in found.rows}
    assert rows == {
        "orders 0": "leader 2, ISR 2, out 1",
        "controller": "none",
        "brokers in the cluster": "2",
        "brokers that answer": "2",
        "ZooKeeper 1": "leader",
        "ZooKeeper 2": "does not serve",
    }


def test_a_state_that_is_missing_has_no_column() -> None:
    """A run that was broken off has no state after it."""
    assert state_table({"before": snapshot(-3, Shape())}).columns == ("before",)


def test_no_states_no_table() -> None:
    """Nothing is shown of a cluster nobody looked at."""
    assert state_table({}).rows == ()


def test_a_partition_that_was_not_there_before() -> None:
    """It is unknown in the state that does not have it, and marked in the one that has."""
    late: dict[str, Any] = snapshot(30, Shape(partitions=2))
    found = state_table({"before": snapshot(-3, Shape(partitions=1)), "during": late})
    new = next(row for row in found.rows if row.name == "orders 1")
    assert next((cell.text, cell.changed) for cell in new.cells) == ("unknown", False)
    assert new.cells[1].changed


def test_of_many_partitions_the_changed_ones_are_listed() -> None:
    """A hundred and fifty partitions: changed ones first, in order, and how many are left out."""
    shape = Shape(partitions=150)
    before, during = snapshot(-3, shape), snapshot(-3, shape)
    during["partitions"][140]["leader"] = 9
    found = state_table({"before": before, "during": during})
    listed = [row.name for row in found.rows if row.name.startswith("orders")]
    assert len(listed) == MOST_ROWS
    assert listed[-1] == "orders 140"
    assert found.rest == 150 - MOST_ROWS


@pytest.mark.parametrize("damaged", [{"partitions": None}, {"zookeepers": []}, {"brokers": "all"}, {"controller": -1}])
def test_a_strange_snapshot_is_shown_as_far_as_it_goes(damaged: dict[str, Any]) -> None:
    """A file of another version does not take the report with it."""
    assert state_table({"before": {**snapshot(-3, Shape()), **damaged}}).rows


def test_no_leader_is_said() -> None:
    """A partition without a leader and with an empty ISR."""
    assert replica_text([Replica(1, "out")]) == "leader none, ISR empty, out 1"


LOGS = [{"topic": "orders", "partition": 0, "begins": 0, "ends": 10}]


def looked(at: float, **more: object) -> dict[str, Any]:
    """A state that an entry looked at, with what only such a one tells."""
    close: dict[str, Any] = {
        "logs": LOGS,
        "coordinators": {"readers": 1, "away": None},
        "transaction_coordinators": {"readers": 2, "billing": None},
        "settings": {"orders": {"a": "1"}},
    }
    return {**snapshot(at, Shape()), **close, **more}


def test_a_closer_look_has_rows_of_its_own() -> None:
    """Logs, coordinators and settings: compared with the first look, and empty where nobody looked so closely."""
    grown = [{**LOGS[0], "begins": 5, "ends": 99}]
    later = looked(40, logs=grown, coordinators={"readers": 2}, settings={"orders": {}})
    before, after = snapshot(-3, Shape()), snapshot(59, Shape())
    found = state_table({"before": before, "one": looked(10), "two": later, "after": after})
    rows = {row.name: [(cell.text, cell.changed) for cell in row.cells] for row in found.rows}
    none = ("", False)
    assert found.columns == ("before", "one", "two", "after")
    assert rows["log of orders 0"] == [none, ("from 0 to 10", False), ("from 5 to 99", False), none]
    assert rows["coordinator of readers"] == [none, ("broker 1", False), ("broker 2", True), none]
    assert rows["coordinator of away"] == [none, ("none", False), none, none]
    assert rows["transaction coordinator of readers"] == [none, ("broker 2", False), ("broker 2", False), none]
    assert rows["transaction coordinator of billing"] == [none, ("none", False), ("none", False), none]
    assert rows["set on orders"] == [none, ("a=1", False), ("nothing", True), none]
    assert not {name for name in found.still_different if name.startswith(("log of", "coordinator of", "set on"))}


@pytest.mark.parametrize("odd", [None, 7, [7], {"readers": []}, [[]]])
def test_a_closer_look_that_was_tampered_with_is_no_crash(odd: object) -> None:
    """What is none of what chaosk writes is left out, or shown as text."""
    tampered = looked(1, logs=odd, coordinators=odd, transaction_coordinators=odd, settings=odd)
    assert state_table({"one": tampered}).columns == ("one",)
