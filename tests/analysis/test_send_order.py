"""A8: neighbours of which nobody wrote down the send, or of which only the acknowledgement is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.history import History
from analysis.test_rules_log import swap
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.proves("send_order", "near miss")
def test_a_late_arrival_that_nobody_wrote_down_breaks_no_order(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss of A8: of the earlier record only its place is known, not that it was acknowledged: information."""
    history = History(records=50)
    swap(history, 20, 21)
    history.drop("sends", seq=20)
    rows = asking(spark, tmp_path, "send_order")(history)
    assert [(row["seq"], row["earlier_outcome"], row["severity"]) for row in rows] == [(21, "unknown", "information")]


def test_a_record_stands_where_its_acknowledgement_says(spark: SparkSession, tmp_path: Path) -> None:
    """A8: the acknowledgement of 20 named 60, so 21 lies before it; whoever was given 20 at its own place."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, offset=60)
    asked = asking(spark, tmp_path, "send_order")
    assert [(row["seq"], row["earlier_offset"], row["severity"]) for row in asked(history)] == [(21, 60, "violation")]
    history.add("assignments", at=5.3, assignment=1)
    assert len(asked(history)) == 1, "an assignment of a consumer is no new log"


def test_acknowledgements_order_what_no_audit_can_contradict(spark: SparkSession, tmp_path: Path) -> None:
    """A8: nobody saw the two records, and the audit broke off: the places they were acknowledged at count.

    Where the audit is complete it says that they are not there, and what is gone is in no order.
    """
    history = History(records=50)
    swap(history, 20, 21)
    for table in ("reads", "audit"):
        for offset in (20, 21):
            history.drop(table, offset=offset)
    asked = asking(spark, tmp_path, "send_order")
    assert asked(history) == []
    history.each("audit_ranges", lambda row: row | {"complete": False, "why": "timed out"})
    assert [(row["seq"], row["earlier_seq"], row["severity"]) for row in asked(history)] == [(21, 20, "violation")]


@pytest.mark.proves("send_order", "fires")
@pytest.mark.parametrize(
    ("retries", "troubled", "severity"),
    [
        (0, False, "violation"), (0, True, "violation"), (None, False, "unproven"), (None, True, "allowed"),
    ],
)  # fmt: skip
def test_only_a_retry_is_overtaken(
    spark: SparkSession,
    tmp_path: Path,
    retries: int | None,
    troubled: bool,  # noqa: FBT001
    severity: str,
) -> None:
    """A8 without idempotence: 30, sent at 10 s, is behind 31. That needs retries, and a sign that 30 needed one."""
    history = History(records=50, idempotent=False)
    swap(history, 30, 31)
    history.rows["faults"].clear()
    if retries is not None:
        history.probes["writer"]["produce"]["config"] = {"retries": retries}
    if troubled:
        history.add("errors", probe="writer", incarnation=0, at=10, error="_TRANSPORT", message="", fatal=False)
    rows = asking(spark, tmp_path, "send_order")(history)
    assert [(row["seq"], row["severity"]) for row in rows] == [(31, severity)]


@pytest.mark.proves("send_order", "near miss")
def test_a_change_of_leader_lets_records_overtake_without_retries(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss of A8: the client sends again what a deposed leader refused, retries or not."""
    history = History(records=50, idempotent=False)
    swap(history, 30, 31)
    history.probes["writer"]["produce"]["config"] = {"retries": 0}
    history.elect(11)
    rows = asking(spark, tmp_path, "send_order")(history)
    assert [(row["seq"], row["severity"]) for row in rows] == [(31, "allowed")]
