"""Losses, duplicates and redeliveries as shares, and after the last heal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.history import History, Row, ns
from analysis.transactional import transactional
from analysis.ways import measure
from pyspark.sql import SparkSession

from chaosk.analysis.acknowledged import acknowledged, at_a_glance, by_spark
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.events import Events
from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


def losing(*seqs: int) -> History:
    """200 records, eight a second, of which some are gone; with ``acks=1`` and another leader that is allowed."""
    history = History(records=200, acks=1)
    history.elect(19.0)
    for seq in seqs:
        history.drop("reads", offset=seq)
        history.drop("audit", offset=seq)
    return history


def test_losses_are_a_share_of_what_was_acknowledged_in_the_same_window(judge: Judge) -> None:
    """Two of 200 in the run, one of the 40 that were sent while the fault lasted, none of those after it."""
    verdict = judge(losing(60, 47))  # sent at 2.5 s and at 0.875 s, before the fault
    assert measure(verdict, "lost_share", "orders") == 0.01
    assert measure(verdict, "lost_share", "orders", "kill") == 1 / 39
    assert measure(verdict, "lost_share", "orders", "after_heal") == 0
    assert measure(verdict, "duplicate_share", "orders") == 0


@pytest.mark.parametrize(("most", "verdict"), [("1 %", Outcome.PASS), ("0.9 %", Outcome.DEGRADED)])
def test_a_range_of_losses(judge: Judge, most: str, verdict: Outcome) -> None:
    """At least one, or the run proves nothing; at most so many of a hundred."""
    history = losing(60, 70)
    history.expect = {"lost_records": {"min": 1}, "lost_share": most}
    assert judge(history).verdict is verdict


@pytest.mark.parametrize(
    "expect", [{"lost_records": {"min": 1}, "lost_share": "1 %"}, {"lost_share": {"min": "0.1 %"}}]
)
def test_at_least_one_or_the_run_is_void(judge: Judge, expect: Row) -> None:
    """None is lost: nothing was shown; a share from below is a prediction as well."""
    history = losing()
    history.expect = expect
    assert judge(history).verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("seq", "verdict"), [(87, Outcome.PASS), (88, Outcome.DEGRADED)])
def test_none_after_the_last_heal(judge: Judge, seq: int, verdict: Outcome) -> None:
    """Healed at 6 s: one that was sent at 5.875 s does not count, one of 6 s does."""
    history = losing(seq)
    history.expect = {"lost_records": {"max": 0, "during": "after_heal"}}
    assert judge(history).verdict is verdict


def test_where_nothing_was_acknowledged_there_is_no_share(judge: Judge) -> None:
    """All sends of the fault's window failed: not 0 %, and an objective on it cannot be judged."""
    history = History(records=200)
    for row in [row for row in history.rows["sends"] if ns(1) <= row["invoked"] < ns(6.1)]:
        history.change("sends", {"seq": row["seq"]}, outcome="fail", offset=None)
        history.drop("reads", offset=row["seq"])
        history.drop("audit", offset=row["seq"])
    history.expect = {"lost_share": {"max": "1 %", "during": "kill"}}
    verdict = judge(history)
    assert measure(verdict, "lost_share", "orders", "kill") is None
    assert verdict.verdict is Outcome.INCONCLUSIVE


def test_duplicates_are_a_share_as_well(judge: Judge) -> None:
    """One of 200 stands twice in the log; without idempotence that is allowed."""
    history = History(records=200, idempotent=False)
    history.audit(200, seq=60)
    verdict = judge(history)
    assert measure(verdict, "duplicate_records", "orders") == 1
    assert measure(verdict, "duplicate_share", "orders") == 0.005


def test_redeliveries_are_a_share_of_deliveries(judge: Judge) -> None:
    """One of 100 was delivered again, at 19.95 s: one of 101 deliveries."""
    history = History(records=100)
    history.add("seeks", offset=99, at=19.85)
    history.read(99, 19.95)
    verdict = judge(history)
    assert measure(verdict, "redelivered_share", "readers") == 1 / 101
    assert measure(verdict, "redelivered_share", "readers", "kill") == 0


def test_glance_and_spark_count_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Two topics, failed sends, one that was never answered, one beyond the run."""
    history = losing(10)
    history.change("sends", {"seq": 60}, outcome="fail", offset=None)
    history.change("sends", {"seq": 61}, outcome="info", offset=None, completed=None)
    history.change("sends", {"seq": 62}, topic="other")
    history.change("sends", {"seq": 199}, invoked=ns(20.5))
    events = Events(spark, read_case(history.write(tmp_path / "run")))
    counts = at_a_glance(events.rows)
    assert +counts == +by_spark(events)
    assert (counts["orders", "run"], counts["other", "run"], counts["other", "kill"]) == (197, 1, 1)


def test_what_was_aborted_is_not_acknowledged(spark: SparkSession, tmp_path: Path) -> None:
    """Ten of fifty records are of a transaction that was aborted: nobody is owed those."""
    history = transactional()
    history.change("transactions", {"txn": "t-2"}, outcome="aborted")
    for row in [row for row in history.rows["sends"] if row["txn"] == "t-2"]:
        history.drop("reads", offset=row["seq"])
        history.rows["audit"] = [each for each in history.rows["audit"] if each["offset"] != row["seq"]]
    events = Events(spark, read_case(history.write(tmp_path / "run")))
    assert acknowledged(events)["orders", "run"] == 40
