"""D8: how many acknowledged records are gone, and over what time they were sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History, ns
from analysis.ways import measure

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.check_rows import CheckRows

if TYPE_CHECKING:
    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
WINDOWS = (TimeSpan("kill", ns(1), ns(6)), TimeSpan("after_heal", ns(6), ns(20)))


def test_the_span_is_from_the_first_lost_send_to_the_last(judge: Judge) -> None:
    """Three records sent at 2.0 s, 3.5 s and 7.0 s are gone: 5 s in the run, 1.5 s in the fault's window."""
    history = History(records=50)
    for offset in (14, 17, 24):
        history.drop("reads", offset=offset)
        history.drop("audit", offset=offset)
    verdict = judge(history)
    assert measure(verdict, "lost_records", "orders") == 3
    assert measure(verdict, "lost_span", "orders") == pytest.approx(5.0)
    assert measure(verdict, "lost_span", "orders", "kill") == pytest.approx(1.5)
    assert measure(verdict, "lost_span", "orders", "after_heal") == 0.0
    assert measure(verdict, "lost_span", "orders", "baseline") == 0.0


def test_many_rows_have_the_spans_of_few(spark: SparkSession) -> None:
    """Whether rows are kept in memory or asked of Spark again; what has no time is in no span."""
    rows = [("a", ns(1.5)), ("a", ns(4)), ("a", ns(9)), ("b", ns(7)), ("b", None)]
    few = CheckRows(tuple({"topic": topic, "began": began} for topic, began in rows))
    many = CheckRows(many=spark.createDataFrame(rows, "topic string, began bigint"))
    expected = {
        ("a", "kill"): 2_500_000_000, ("a", "after_heal"): 0, ("a", "run"): 7_500_000_000,
        ("b", "after_heal"): 0, ("b", "run"): 0,
    }  # fmt: skip
    assert few.spans("topic", WINDOWS, "began", "run") == expected
    assert many.spans("topic", WINDOWS, "began", "run") == expected
