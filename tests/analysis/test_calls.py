"""Calls: for how long none was answered, how many failed, how long they took; and a probe that only calls is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.conftest import Judge
from analysis.history import History, ns
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.calls import Calls
from chaosk.analysis.events import Events

pytestmark = [pytest.mark.spark, pytest.mark.long]


def calling(every: float = 0.5, took: float = 0.004) -> History:
    """A run in which a probe calls twice a second from -5 to 20 s, and is always answered."""
    history = History(records=250)
    history.probes["caller"] = {"call": {"operation": "metadata"}}
    history.record["probes"].append({"probe": "caller", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.worker("caller", kind="call")
    for number in range(round(25 / every)):
        began = -5 + number * every
        history.add("calls", began=began, completed=began + took)
    return history


def instead(history: History, low: float, high: float, *calls: tuple[float, float, str, str | None]) -> None:
    """These calls (began, completed, outcome, error) in place of those begun from ``low`` on and before ``high``."""
    history.rows["calls"] = [row for row in history.rows["calls"] if not ns(low) <= row["began"] < ns(high)]
    for began, completed, outcome, error in calls:
        history.add("calls", began=began, completed=completed, outcome=outcome, error=error)


def figures(spark: SparkSession, folder: Path, history: History) -> dict[tuple[str, str], float | None]:
    """By metric and window, those of the caller."""
    events = Events(spark, read_case(history.write(folder / "figures")))
    found = CheckRows(tuple(row.asDict() for row in Calls().violations(events).collect()))
    measures = list(Calls().measures(events, found))
    assert {one.subject for one in measures} == {"caller"}
    return {(one.metric, one.window): one.value for one in measures}


def test_all_is_answered(spark: SparkSession, tmp_path: Path) -> None:
    """No stretch; every call counted, in the windows that it was made in."""
    assert asking(spark, tmp_path, "calls")(calling()) == []
    found = figures(spark, tmp_path, calling())
    assert found["calls_answered", "run"] == 50
    assert found["calls_answered", "baseline"] == 10
    assert found["calls_failed", "run"] == found["call_unavailability", "run"] == 0
    assert found["call_time_p50", "kill"] == pytest.approx(0.004, rel=0.002)
    assert found["call_time_max", "run"] == 0.004


@pytest.mark.proves("calls", "fires")
def test_from_the_first_call_that_failed_until_one_was_answered(spark: SparkSession, tmp_path: Path) -> None:
    """Two calls fail, from 2.0 s on, and one that is made at 3.5 s is answered at 4.25 s: 2.25 s without an answer."""
    history = calling()
    failing = [(2.0, 2.5, "fail", "_TIMED_OUT"), (2.75, 3.25, "fail", "_TRANSPORT")]
    instead(history, 1.9, 4.4, *failing, (3.5, 4.25, "ok", None))
    (row,) = asking(spark, tmp_path, "calls")(history)
    assert (row["calls"], row["failed"], row["censored"], row["errors"]) == (3, 2, False, "_TIMED_OUT, _TRANSPORT")
    assert (row["operation"], row["severity"]) == ("metadata", "information")
    assert row["seconds"] == pytest.approx(2.25)
    found = figures(spark, tmp_path, history)
    assert found["call_unavailability", "run"] == found["call_unavailability", "kill"] == pytest.approx(2.25)
    assert found["call_unavailability", "baseline"] == found["call_unavailability", "after_heal"] == 0
    assert found["calls_failed", "run"] == found["calls_failed", "kill"] == 2
    assert found["calls_failed", "baseline"] == 0
    assert found["call_time_max", "kill"] == pytest.approx(0.75)


def test_one_call_that_hangs_is_a_stretch_though_it_is_answered(spark: SparkSession, tmp_path: Path) -> None:
    """Made at 2 s, answered at 10 s: nothing failed, and nobody had an answer for 8 s."""
    history = calling()
    instead(history, 1.9, 10.1, (2.0, 10.0, "ok", None))
    (row,) = asking(spark, tmp_path, "calls")(history)
    assert (row["calls"], row["failed"], row["seconds"], row["errors"]) == (1, 0, pytest.approx(8), "")
    found = figures(spark, tmp_path, history)
    assert found["call_time_max", "kill"] == pytest.approx(8)
    assert found["call_time_max", "after_heal"] == pytest.approx(0.004), "it belongs to the window that it was made in"


def test_what_was_under_way_at_the_end_took_at_least_so_long(spark: SparkSession, tmp_path: Path) -> None:
    """Given up with the probe: censored, no failure, and the longest call all the same."""
    history = calling()
    instead(history, 15, 99, (15.0, 20.0, "info", "UNFINISHED"))
    (row,) = asking(spark, tmp_path, "calls")(history)
    assert (row["censored"], row["failed"], row["seconds"]) == (True, 0, pytest.approx(5))
    found = figures(spark, tmp_path, history)
    assert found["calls_failed", "run"] == 0
    assert found["calls_answered", "run"] == 40
    assert found["call_time_max", "run"] == pytest.approx(5)


def test_a_failure_that_is_made_good_within_a_second_is_no_stretch(spark: SparkSession, tmp_path: Path) -> None:
    """It counts as failed, and nothing was unavailable."""
    history = calling()
    instead(history, 2.9, 3.1, (3.0, 3.01, "fail", "_TRANSPORT"))
    assert asking(spark, tmp_path, "calls")(history) == []
    assert figures(spark, tmp_path, history)["calls_failed", "run"] == 1


def test_a_new_process_begins_anew(spark: SparkSession, tmp_path: Path) -> None:
    """What the old one was not answered is not the new one's, nor is the time between them."""
    history = calling()
    instead(history, 3, 10, (3.0, 3.5, "fail", "_TIMED_OUT"))
    history.rows["calls"] = [row | {"incarnation": int(row["began"] >= ns(10))} for row in history.rows["calls"]]
    assert asking(spark, tmp_path, "calls")(history) == []


def test_a_run_of_calls_alone_is_judged(judge: Judge) -> None:
    """It passes; with an objective that is missed it fails."""
    assert judge(calling()).found == "pass"
    history = calling()
    instead(history, 1.9, 10.1, (2.0, 10.0, "ok", None))
    history.expect = {"call_time_max": "5s"}
    verdict = judge(history)
    assert [one.metric for one in verdict.objectives if not one.met] == ["call_time_max"]


def test_a_caller_that_is_answered_nothing_after_the_heal_is_missed(judge: Judge) -> None:
    """After the last heal a call has to be answered; during a fault one that hangs is attempt enough."""
    history = calling()
    instead(history, 0, 99, (0.5, 20.0, "info", "UNFINISHED"))
    missing = [guard.what for guard in judge(history).guards if guard.guard == "no_progress"]
    assert missing == ["caller: not one call answered in the window after_heal"]
