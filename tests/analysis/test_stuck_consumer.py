"""B9: consumers that never go on after the last fault."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.asking import Asked, another, asking, glances
from analysis.history import History, ns
from analysis.ways import finding, guards, told
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks this check alone."""
    return asking(spark, tmp_path, "stuck_consumer")


def stuck(first: int = 20, *, drained: float = 60.0) -> History:
    """Two records a second until 20 s, delivered up to ``first`` only; the run waits for the rest until ``drained``."""
    history = History(records=50)
    for offset in range(first, 50):
        history.drop("reads", offset=offset)
    history.change("phases", {"phase": "drain"}, ended=ns(drained))
    return history


@pytest.mark.proves("stuck_consumer", "fires")
def test_a_consumer_that_never_goes_on_is_a_violation(judge: Judge) -> None:
    """B9: the fault was over at 6 s, and from 5 s to 60 s nothing is delivered although 30 records wait."""
    verdict = judge(stuck())
    assert told(verdict) == {"stuck_consumer": 1}
    row = finding(verdict, "stuck_consumer").evidence[0]
    assert (row["reached"], row["first"], row["waiting"]) == (19, 20, 30)
    assert row["seconds"] == pytest.approx(54)
    assert guards(verdict) >= {"unseen_unproven"}  # what the group was never given, A5 cannot decide


@pytest.mark.proves("stuck_consumer", "near miss")
def test_half_a_minute_is_not_too_long(asked: Asked) -> None:
    """Near miss of B9: 29 s after the fault was over the run ended; and what came at 19 s waited less than that."""
    assert asked(stuck(drained=35)) == []
    assert asked(stuck(48, drained=49)) == []


def test_nothing_waits_where_all_was_delivered(asked: Asked) -> None:
    """Near miss of B9: nobody wrote any more, or what is missing is not there for a careful reader."""
    assert asked(stuck(50, drained=90)) == []
    history = stuck()
    history.rows["audit"] = [
        row for row in history.rows["audit"] if row["offset"] < 20 or row["isolation"] == "read_uncommitted"
    ]
    assert asked(history) == []


def working(work: str, last: float, records: int) -> History:
    """The same with an application whose last poll before the end returned ``records`` records at ``last``."""
    history = stuck(drained=100)
    history.probes["reader"]["consume"]["processing"] = work
    history.add("polls", poll=19, invoked=last - 0.1, completed=last, records=records)
    for number in range(3):
        history.add("polls", poll=number, invoked=number, completed=number, records=0)
    return history


@pytest.mark.parametrize(
    ("work", "last", "records"),
    [("60s/batch", 5.9, 20), ("3s/record", 4.6, 20), ("60s/batch", -20.0, 20)],
    ids=["a batch", "its records", "the work between two polls"],
)
def test_an_application_that_is_at_work_is_not_stuck(asked: Asked, work: str, last: float, records: int) -> None:
    """Near miss of B9: it is silent for 94 s, of which its work takes 60 s, and 60 s more where others come first."""
    assert asked(working(work, last, records)) == []


@pytest.mark.parametrize(
    ("work", "last", "records"),
    [("20s/batch", 5.9, 20), ("1s/record", 4.6, 20), ("60s/batch", 5.9, 0), ("10ms/record", 90, 20)],
    ids=["a batch", "its records", "no record", "work on other partitions"],
)
def test_an_application_whose_work_was_done_is_stuck(asked: Asked, work: str, last: float, records: int) -> None:
    """B9: the work that it had ended long ago, or it had none, or it works on, on records of other partitions."""
    assert [row["waiting"] for row in asked(working(work, last, records))] == [30]


@pytest.mark.parametrize("how", ["killed", "given up"])
def test_who_holds_nothing_is_not_stuck(asked: Asked, how: str) -> None:
    """Near misses of B9: the process was killed, or gave the partition up and nobody else got it."""
    history = stuck()
    if how == "killed":
        history.drop("ends", probe="reader")
    else:
        history.add("assignments", at=8, kind="revoke")
    assert asked(history) == []


def test_what_another_member_was_given_does_not_wait(asked: Asked) -> None:
    """Near miss of B9: the group had all of it, from another member."""
    history = History(records=50)
    another(history)
    history.change("phases", {"phase": "drain"}, ended=ns(60))
    history.each("reads", lambda row: row | ({"probe": "second"} if row["offset"] >= 20 else {}))
    assert asked(history) == []


@pytest.mark.proves("stuck_consumer", "no evidence")
def test_without_a_complete_audit_it_is_open(asked: Asked) -> None:
    """B9 without the evidence: what was acknowledged may not be there."""
    history = stuck()
    for offset in range(20, 50):
        history.drop("audit", offset=offset)
    assert asked(history) == []  # the complete audit says that it is gone: that is lost, and nothing waits
    history.each("audit_ranges", lambda row: row | {"complete": False})
    assert [row["severity"] for row in asked(history)] == ["unproven"]


def test_what_a_transaction_held_back_did_not_wait(asked: Asked) -> None:
    """Near miss of B9: the records were acknowledged long ago, but their transaction was committed 10 s ago."""
    history = stuck()
    history.each("sends", lambda row: row | ({"txn": "t1"} if row["seq"] >= 20 else {}))
    history.add("transactions", txn="t1", initialized=-5, begun=5, ending=49, ended=50, outcome="committed")
    assert asked(history) == []


def test_what_a_reader_at_the_end_of_the_log_skipped_does_not_wait(asked: Asked) -> None:
    """Near miss of B9: where it began is not known, but it was given all that came after the record that it lacks."""
    history = stuck(50, drained=90)
    history.probes["reader"] = {"consume": {"topic": "orders", "assign": "all", "start": "end"}}
    for table in ("reads", "assignments", "incarnations"):
        history.each(table, lambda row: row | {"group": None})
    history.rows["fetched"].clear()
    history.drop("reads", offset=20)
    assert asked(history) == []
    for offset in range(40, 50):
        history.drop("reads", offset=offset)
    assert [(row["first"], row["waiting"]) for row in asked(history)] == [(40, 10)]


def test_nothing_is_seen_at_a_glance_where_all_went_well(tmp_path: Path) -> None:
    """Everything was delivered, or there was no time to be stuck."""
    assert not glances(tmp_path / "1", "stuck_consumer", stuck(50, drained=90))
    assert not glances(tmp_path / "2", "stuck_consumer", stuck(20, drained=21))
