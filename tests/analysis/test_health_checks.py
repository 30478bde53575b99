"""Health checks: how brokers looked to them, and that a probe that only checks is judged like any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.conftest import Judge
from analysis.history import History, ns
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.health_checks import HealthChecks
from chaosk.analysis.events import Events

pytestmark = [pytest.mark.spark, pytest.mark.long]


def healthy(brokers: tuple[int, ...] = (1, 2), every: float = 1.0, took: float = 0.002, **health: object) -> History:
    """A run in which a probe connects to two brokers once a second, and never fails."""
    history = History(records=250)
    history.probes["health"] = {"health_check": {"rate": "1/s", **health}}
    history.record["probes"].append({"probe": "health", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.worker("health", kind="health_check")
    for number in range(round(25 / every)):
        for broker in brokers:
            at = -5 + number * every
            history.add("health_checks", broker=broker, due=at, began=at, connected=at + took, closed=at + took + 0.001)
    return history


def fails(history: History, broker: int, low: float, high: float, **instead: str) -> None:
    """The checks of a broker that were due from ``low`` on and before ``high`` hung for half a second."""
    hung = {"outcome": "fail", "error": "TIMEOUT", "connected": None, **instead}
    for row in history.rows["health_checks"]:
        if row["broker"] == broker and ns(low) <= row["due"] < ns(high):
            row |= {**hung, "closed": row["due"] + 500_000_000}


def figures(spark: SparkSession, folder: Path, history: History) -> dict[tuple[str, str, str], float | None]:
    """By metric, subject and window."""
    events = Events(spark, read_case(history.write(folder / "figures")))
    frame = HealthChecks().violations(events)
    found = CheckRows(tuple(row.asDict() for row in frame.collect()))
    return {(m.metric, m.subject, m.window): m.value for m in HealthChecks().measures(events, found)}


def test_all_is_well(spark: SparkSession, tmp_path: Path) -> None:
    """Every check succeeded: all available, no stretch, the latency of each, by probe and by broker."""
    asked = asking(spark, tmp_path, "health_checks")
    assert asked(healthy()) == []
    found = figures(spark, tmp_path, healthy())
    for subject in ("health", "health, broker 1", "health, broker 2"):
        assert found["connect_availability", subject, "run"] == 1.0
        assert found["connect_unavailability", subject, "run"] == 0.0
        assert found["connect_latency_p99", subject, "kill"] == pytest.approx(0.002, rel=0.002)
        assert found["connect_latency_max", subject, "run"] == 0.002


@pytest.mark.proves("health_checks", "fires")
def test_a_broker_that_fails_is_away_from_the_first_failure_until_the_next_success(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Due at 1, 2 and 3 s and given up, healthy again at 4.002 s: 3.002 s of one broker, and the other is as ever."""
    history = healthy()
    fails(history, 1, 1, 4)
    (row,) = asking(spark, tmp_path, "health_checks")(history)
    assert (row["broker"], row["failed"], row["censored"], row["errors"]) == (1, 3, False, "TIMEOUT")
    assert row["seconds"] == pytest.approx(3.002)
    assert row["severity"] == "information"
    found = figures(spark, tmp_path, history)
    assert found["connect_unavailability", "health", "run"] == pytest.approx(3.002)
    assert found["connect_unavailability", "health, broker 1", "kill"] == pytest.approx(3.002)
    assert found["connect_unavailability", "health, broker 2", "run"] == 0.0
    assert found["connect_unavailability", "health", "baseline"] == 0.0
    assert found["connect_availability", "health", "run"] == pytest.approx(47 / 50)
    assert found["connect_availability", "health, broker 1", "kill"] == pytest.approx(2 / 4)  # due at 2, 3, 4 and 5 s
    assert found["connect_availability", "health, broker 2", "kill"] == 1.0


def test_one_that_never_recovers_is_censored(spark: SparkSession, tmp_path: Path) -> None:
    """The stretch lasted at least until its last check was given up."""
    history = healthy()
    fails(history, 2, 15, 99)
    (row,) = asking(spark, tmp_path, "health_checks")(history)
    assert (row["broker"], row["failed"], row["censored"]) == (2, 5, True)
    assert row["seconds"] == pytest.approx(4.5)


def test_one_that_never_answered_counts_from_its_first_check(spark: SparkSession, tmp_path: Path) -> None:
    """There need not be a success before."""
    history = healthy()
    fails(history, 2, -99, 0)
    (row,) = asking(spark, tmp_path, "health_checks")(history)
    assert (row["broker"], row["failed"], row["seconds"]) == (2, 5, pytest.approx(5.002))


def test_a_failure_among_many_is_no_stretch(spark: SparkSession, tmp_path: Path) -> None:
    """Of ten checks a second one fails: less than a second, and yet it counts against availability."""
    history = healthy(every=0.1)
    fails(history, 1, 2, 2.05)
    assert asking(spark, tmp_path, "health_checks")(history) == []
    assert figures(spark, tmp_path, history)["connect_availability", "health, broker 1", "run"] == 249 / 250


def test_what_this_machine_could_not_try_accuses_nobody(spark: SparkSession, tmp_path: Path) -> None:
    """Checks without a turn count neither as failed nor as succeeded."""
    history = healthy()
    fails(history, 1, 1, 4, outcome="info", error="NO_TURN")
    assert asking(spark, tmp_path, "health_checks")(history) == []
    assert figures(spark, tmp_path, history)["connect_availability", "health", "run"] == 1.0


def test_a_new_process_is_not_away_while_the_old_one_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    """Nobody checked from 5 to 10 s: that is no stretch of the broker's."""
    history = healthy()
    history.rows["health_checks"] = [
        row | {"incarnation": int(row["due"] >= ns(10))}
        for row in history.rows["health_checks"]
        if not ns(5) <= row["due"] < ns(10)
    ]
    assert asking(spark, tmp_path, "health_checks")(history) == []


def test_a_run_with_a_health_check_passes_and_names_the_fault(judge: Judge) -> None:
    """It is a probe like any other: its rows are accounted for, and the stretch overlaps the fault that caused it."""
    history = healthy()
    fails(history, 1, 2, 5)
    verdict = judge(history)
    assert [guard.what for guard in verdict.guards] == []
    assert verdict.verdict == "pass"
    (finding,) = (finding for finding in verdict.findings if finding.check == "health_checks")
    assert (finding.title, finding.faults) == ("1 stretch in which health checks failed", ("kill",))


def test_rows_that_are_missing_make_it_inconclusive(judge: Judge) -> None:
    """Fewer rows than were due, and none in the baseline."""
    history = healthy()
    history.rows["health_checks"] = [r for r in history.rows["health_checks"] if r["due"] > ns(0)]
    history.change("ends", {"probe": "health"}, rows=50, scheduled=50)
    verdict = judge(history)
    said = "\n".join(guard.what for guard in verdict.guards)
    assert verdict.verdict == "inconclusive"
    assert "the log of health/0 has 38 rows and says that it wrote 50" in said
    assert "health/0 had 50 health checks due and accounts for 38" in said
    assert "health: not one health check that succeeded in the window baseline" in said
