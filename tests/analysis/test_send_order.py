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
