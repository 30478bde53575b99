"""B8: partitions in the hands of two members, and deliveries to one that holds none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.asking import Asked, another, asking, glances, passed_on, reads_of
from analysis.history import History
from analysis.ways import finding, told
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks ``double_ownership`` alone."""
    return asking(spark, tmp_path, "double_ownership")


@pytest.fixture
def unassigned(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks ``consume_while_unassigned`` alone."""
    return asking(spark, tmp_path, "consume_while_unassigned")


def shared(until: float | None, how: str = "revoke") -> History:
    """Offset 24 on is the second member's from 7.2 s on; the reader gives the partition up only at ``until``.

    Both are given records meanwhile: the reader the odd ones until 10 s.
    """
    history = History(records=50)
    another(history)
    passed_on(history, 7.0, 24, how=None, probe="second", incarnation=0)
    if until is not None:
        history.add("assignments", at=until, kind=how)
    reads_of(history, 30, probe="second")
    for offset in (24, 26, 28):
        history.change("reads", {"offset": offset}, probe="second")
    return history


# --- double_ownership -------------------------------------------------------------------------------------------------


@pytest.mark.proves("double_ownership", "fires")
def test_a_partition_given_before_it_was_revoked_is_a_violation(judge: Judge) -> None:
    """B8: given to the second member at 7.2 s, revoked from the first one at 10.5 s, both read meanwhile."""
    history = shared(10.5)
    verdict = judge(history)
    assert told(verdict)["double_ownership"] == 1
    row = finding(verdict, "double_ownership").evidence[0]
    assert row["seconds"] == pytest.approx(3.3)
    assert row.items() >= {"probe": "reader", "other": "second", "how": "revoke", "records": 3}.items()


def test_two_processes_of_one_probe_are_two_members(asked: Asked) -> None:
    """B8: the partition was given to the next process of the same probe before the first one gave it up."""
    history = History(records=50)
    passed_on(history, 7.0, 24, how=None)
    history.add("assignments", at=10.5, kind="revoke")
    reads_of(history, 30, incarnation=1)
    for offset in (24, 26, 28):
        history.change("reads", {"offset": offset}, incarnation=1)
    (row,) = asked(history)
    who = {"probe": "reader", "incarnation": 0, "other": "reader", "other_incarnation": 1}
    assert row.items() >= {**who, "severity": "violation", "records": 3, "other_records": 3}.items()


def test_an_expelled_member_learns_of_it_late(asked: Asked) -> None:
    """Near miss of B8: the first member says that it lost the partition; nothing kept it from reading till then."""
    assert [row["severity"] for row in asked(shared(10.5, "lost"))] == ["information"]


@pytest.mark.proves("double_ownership", "no evidence")
def test_one_that_ended_meanwhile_leaves_it_open(asked: Asked) -> None:
    """B8 without the evidence: nobody wrote down how the first member lost it, or it gave it up by ending."""
    assert [row["severity"] for row in asked(shared(None))] == ["unproven"]
    history = shared(10.5)
    history.rows["polls"].clear()
    assert [row["severity"] for row in asked(history)] == ["unproven"]


def test_holding_without_reading_is_no_double_ownership(asked: Asked) -> None:
    """Near miss of B8: the intervals overlap, but the first member was given nothing any more."""
    history = shared(10.5)
    reads_of(history, 24, probe="second")
    assert asked(history) == []


@pytest.mark.proves("double_ownership", "near miss")
def test_one_after_the_other_is_right(asked: Asked) -> None:
    """Near miss of B8: revoked first, then given to the next."""
    history = History(records=50)
    another(history)
    passed_on(history, 6.05, 23, probe="second", incarnation=0)
    reads_of(history, 23, probe="second")
    assert asked(history) == []


def test_who_assigns_itself_a_partition_shares_it_with_anybody(asked: Asked) -> None:
    """Near miss of B8: the group did not give the partition to the first one."""
    history = shared(10.5)
    history.probes["reader"]["consume"]["assign"] = [0]
    assert asked(history) == []


def test_two_groups_hold_a_partition_each(asked: Asked) -> None:
    """Near miss of B8: the second member is of another group."""
    history = shared(10.5)
    for table in ("assignments", "fetched", "reads"):
        history.each(table, lambda row: row | ({"group": "others"} if row["probe"] == "second" else {}))
    assert asked(history) == []


# --- consume_while_unassigned -----------------------------------------------------------------------------------------


@pytest.mark.proves("consume_while_unassigned", "fires")
def test_a_delivery_after_the_partition_was_revoked_is_a_violation(unassigned: Asked) -> None:
    """B8: revoked at 10 s, and records are delivered after that, by an assignment's number or without one."""
    history = History(records=50)
    history.add("assignments", at=10, kind="revoke")
    history.change("reads", {"offset": 49}, assignment=-1)
    rows = unassigned(history)
    assert [row["severity"] for row in rows] == ["violation"] * 20
    assert (rows[0]["offset"], rows[-1]["assignment"]) == (30, -1)


def test_a_delivery_before_the_partition_was_given_is_a_violation(unassigned: Asked) -> None:
    """B8: given at -4.4 s only; two records came before."""
    history = History(records=50)
    history.rows["assignments"].clear()
    history.add("assignments", at=-4.4)
    assert [row["offset"] for row in unassigned(history)] == [0, 1]


@pytest.mark.proves("consume_while_unassigned", "no evidence")
def test_an_assignment_that_a_killed_process_did_not_write_leaves_it_open(unassigned: Asked) -> None:
    """B8 without the evidence: nothing says that the partition was given, and the log is cut short."""
    history = History(records=2)
    history.rows["assignments"].clear()
    history.drop("ends", probe="reader")
    assert {row["severity"] for row in unassigned(history)} == {"unproven"}


@pytest.mark.proves("consume_while_unassigned", "near miss")
def test_nothing_is_seen_at_a_glance_where_all_went_well(tmp_path: Path) -> None:
    """A partition that is passed on, and given up in the end."""
    history = History(records=50)
    another(history)
    passed_on(history, 6.05, 23, probe="second", incarnation=0)
    reads_of(history, 23, probe="second")
    history.add("assignments", at=20.5, kind="revoke", probe="second")
    assert not glances(tmp_path, "double_ownership", history)
    assert not glances(tmp_path / "2", "consume_while_unassigned", history)
