"""D4: how long clients took to start and to close."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.history import History, ns
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.checks.lifecycle import Lifecycle
from chaosk.rundir.verdict import Outcome, Verdict

pytestmark = [pytest.mark.spark, pytest.mark.long]


def judged(spark: SparkSession, folder: Path, history: History) -> Verdict:
    """Judged by this check alone."""
    return analyze(spark, history.write(folder / "run"), {"lifecycle": Lifecycle})


def figures(verdict: Verdict, metric: str, probe: str) -> dict[str, tuple[float | None, bool]]:
    """By window the figure, and whether it is censored."""
    return {m.window: (m.value, m.censored) for m in verdict.measures if (m.metric, m.subject) == (metric, probe)}


def restarted(first: float | None) -> History:
    """The writer's second process starts at 7 s; its first record is acknowledged ``first``, the others later."""
    history = History(records=50)
    history.worker("writer", 1, started=7, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.record["probes"].append({"probe": "writer", "incarnation": 1, "ended_by": "stop", "exit_status": 0})
    for number in range(3):
        came = 20 + number if number or first is None else first
        outcome = "fail" if first is None else "ok"
        history.send(number, 7.1 + number / 10, incarnation=1, completed=came, offset=50 + number, outcome=outcome)
    return history


@pytest.mark.proves("lifecycle", "fires")
def test_a_start_lasts_until_the_first_success(spark: SparkSession, tmp_path: Path) -> None:
    """Ready at 7 s and acknowledged first at 9.5 s; the first process, at -5.95 s, had its first one at -4.995 s."""
    verdict = judged(spark, tmp_path, restarted(9.5))
    assert figures(verdict, "start_time", "writer") == {
        "run": (2.5, False), "after_heal": (2.5, False),
    }  # fmt: skip
    ((seconds, censored),) = figures(verdict, "start_time", "reader").values()
    assert seconds == pytest.approx(0.96)
    assert not censored


@pytest.mark.proves("lifecycle", "no evidence")
def test_one_that_never_had_a_success_started_at_least_so_long(spark: SparkSession, tmp_path: Path) -> None:
    """All that it sent failed, and at 21 s it was gone: at least 14 s."""
    assert figures(judged(spark, tmp_path, restarted(None)), "start_time", "writer")["run"] == (14.0, True)


@pytest.mark.parametrize(("bound", "verdict"), [
    ({"min": "2s", "max": "3s"}, Outcome.PASS), ({"min": "2600ms"}, Outcome.DEGRADED),
    ({"max": "2400ms"}, Outcome.DEGRADED),
])  # fmt: skip
@pytest.mark.proves("lifecycle", "near miss")
def test_bounds_from_both_sides(spark: SparkSession, tmp_path: Path, bound: dict[str, str], verdict: Outcome) -> None:
    """2.5 s is between 2 s and 3 s, less than 2.6 s, more than 2.4 s."""
    history = restarted(9.5)
    history.expect = {"start_time": {"writer": bound}}
    assert judged(spark, tmp_path, history).verdict is verdict


def test_calls_start_with_their_first_answer(spark: SparkSession, tmp_path: Path) -> None:
    """A call that failed is no success."""
    history = History(records=50)
    history.worker("caller", started=1.5, kind="call")
    history.add("calls", began=1.6, completed=2.5, outcome="fail")
    history.add("calls", began=2.6, completed=4.0)
    assert figures(judged(spark, tmp_path, history), "start_time", "caller")["kill"] == (2.5, False)


def closing(*ends: tuple[float, float, int]) -> History:
    """The reader's processes were told to end, were gone, and ended with a status."""
    history = History(records=50)
    history.record["probes"] += [
        {"probe": "reader", "incarnation": n, "ended_by": "step", "exit_status": status, "told": ns(told),
         "gone": ns(gone)}
        for n, (told, gone, status) in enumerate(ends, 1)
    ]  # fmt: skip
    return history


def test_a_close_lasts_from_being_told_until_it_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    """Two closed: one told at 2 s took 3 s, in the fault's window; one told in the drain took 4 s."""
    verdict = judged(spark, tmp_path, closing((2, 5, 0), (20.5, 24.5, 0)))
    assert figures(verdict, "close_time", "reader") == {"run": (4.0, False), "kill": (3.0, False)}
    assert figures(verdict, "close_time", "writer") == {}


def test_a_stop_counts_in_the_window_of_the_entry_that_stops(spark: SparkSession, tmp_path: Path) -> None:
    """It was told at 1.05 s; the entry began at 1 s, and its window is from when it was verified, at 1.1 s."""
    assert figures(judged(spark, tmp_path / "in", closing((1.05, 1.09, 0))), "close_time", "reader") == {
        "run": (0.04, False), "kill": (0.04, False),
    }  # fmt: skip
    before = figures(judged(spark, tmp_path / "before", closing((0.95, 1.05, 0))), "close_time", "reader")
    assert list(before) == ["run"]


def test_one_that_had_to_be_killed_did_not_close_in_that_time(spark: SparkSession, tmp_path: Path) -> None:
    """After 45 s SIGKILL: an upper bound above that cannot be judged, one below is missed."""
    history = closing((2, 47, -9))
    assert figures(judged(spark, tmp_path, history), "close_time", "reader")["kill"] == (45.0, True)
    history.expect = {"close_time": {"max": "50s", "during": "kill"}}
    assert judged(spark, tmp_path, history).verdict is Outcome.INCONCLUSIVE
    history.expect = {"close_time": {"max": "40s", "during": "kill"}}
    assert judged(spark, tmp_path, history).verdict is Outcome.DEGRADED


def test_one_that_was_killed_without_a_word_closed_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """So does a run of which an older chaosk did not write down when it told whom."""
    history = History(records=50)
    history.record["probes"][0] |= {"ended_by": "step", "exit_status": -9}
    assert figures(judged(spark, tmp_path, history), "close_time", "reader") == {}
