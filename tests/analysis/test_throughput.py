"""D3: what was acknowledged, delivered and answered while a window lasted, whenever it was due."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History, Row, ns
from analysis.tallying import tallies
from analysis.ways import measure

from chaosk.rundir.verdict import Measure, Outcome

if TYPE_CHECKING:
    from analysis.conftest import Judge

    from chaosk.rundir.verdict import Verdict

pytestmark = [pytest.mark.spark, pytest.mark.long]


def stalled_through(until: float) -> History:
    """Four records a second; what was to be acknowledged while ``kill`` lasted (1.1 s to 6 s) came only ``until``."""
    history = History(records=100)

    def late(row: Row) -> Row:
        column = "completed" if "completed" in row else "at"
        return row | ({column: ns(until)} if ns(1.1) <= row[column] < ns(until) else {})

    history.each("sends", late)
    history.each("reads", late)
    return history


def figure(verdict: Verdict, metric: str, subject: str, window: str) -> Measure:
    """One measure with all that is said of it."""
    (found,) = [m for m in verdict.measures if (m.metric, m.subject, m.window) == (metric, subject, window)]
    return found


@pytest.mark.proves("throughput", "fires")
def test_what_came_after_the_fault_did_not_come_during_it(judge: Judge) -> None:
    """All that was due while it lasted was acknowledged and delivered, but none of it before it was healed."""
    verdict = judge(stalled_through(8))
    assert measure(verdict, "acknowledged_records", "writer", "kill") == 19
    assert measure(verdict, "rate", "writer", "kill") == 3.878  # 19 in 4.9 s
    assert [measure(verdict, name, "writer", "kill") for name in ("acknowledgements", "throughput")] == [0, 0]
    assert [measure(verdict, name, "reader", "kill") for name in ("deliveries", "throughput")] == [0, 0]
    assert measure(verdict, "acknowledgements", "writer", "after_heal") == 75
    assert measure(verdict, "deliveries", "reader", "after_heal") == 75
    assert measure(verdict, "acknowledgements", "writer", "baseline") == 20
    assert measure(verdict, "throughput", "writer", "baseline") == 4
    assert measure(verdict, "acknowledgements", "writer") == measure(verdict, "deliveries", "reader") == 100


@pytest.mark.proves("throughput", "near miss")
@pytest.mark.parametrize(("came", "least", "verdict"), [
    (5.999, 1, Outcome.PASS), (5.999, 2, Outcome.DEGRADED), (6.0, 1, Outcome.DEGRADED),
])  # fmt: skip
def test_one_that_came_just_in_time_counts(judge: Judge, came: float, least: int, verdict: Outcome) -> None:
    """The window ends at 6 s: a millisecond before it counts, at 6 s it does not; and one is not two."""
    history = stalled_through(8)
    history.change("sends", {"seq": 30}, completed=ns(came))
    history.expect = {"acknowledgements": {"writer": {"min": least, "during": "kill"}}}
    assert judge(history).verdict is verdict


def test_a_record_that_is_delivered_twice_is_two_deliveries(judge: Judge) -> None:
    """By when each was delivered."""
    history = History(records=100)
    history.add("seeks", offset=99, at=19.85)
    history.read(99, 19.95)
    assert measure(judge(history), "deliveries", "reader") == 101


def test_answers_count_when_they_come(judge: Judge) -> None:
    """One call is made in the fault and answered after it, one before it and answered in it; one fails in it."""
    history = History(records=50)
    history.probes["caller"] = {"call": {"operation": "metadata"}}
    history.record["probes"].append({"probe": "caller", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.worker("caller", kind="call")
    for began, completed, outcome in ((-1, -0.9, "ok"), (1, 1.2, "ok"), (2, 3, "fail"), (5, 6.5, "ok")):
        history.add("calls", began=began, completed=completed, outcome=outcome)
    verdict = judge(history)
    assert measure(verdict, "calls_answered", "caller", "kill") == 1  # the one that was made in it
    assert figure(verdict, "answers", "caller", "kill").value == 1
    assert figure(verdict, "answers", "caller", "after_heal").value == 1
    assert figure(verdict, "answers", "caller", "run").value == 3


def killed(tally_at: float, restarted: float) -> History:
    """The writer is killed by a step; its last tally is of ``tally_at``, and its next process starts ``restarted``."""
    history = History(records=100)
    history.probes["writer"]["produce"]["rate"] = "4/s"
    history.drop("ends", probe="writer")
    history.record["probes"] = [
        {"probe": "reader", "incarnation": 0, "ended_by": "stop", "exit_status": 0},
        {"probe": "writer", "incarnation": 0, "ended_by": "step", "exit_status": -9},
        {"probe": "writer", "incarnation": 1, "ended_by": "stop", "exit_status": 0},
    ]
    history.each("sends", lambda row: row | ({"incarnation": 1} if row["scheduled"] >= ns(restarted) else {}))
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | ({"producer_incarnation": 1} if row["seq"] >= seqs(history) else {}))
    history.worker("writer", 1, started=restarted, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    told = [row for row in history.rows["sends"] if row["incarnation"] == 0 and row["completed"] <= ns(tally_at)]
    history.rows["tallies"] = tallies(history.rows | {"sends": told}, [("writer", 0)], ns(tally_at))
    return history


def seqs(history: History) -> int:
    """The first sequence number of the second process."""
    return min(int(row["seq"]) for row in history.rows["sends"] if row["incarnation"] == 1)


@pytest.mark.proves("throughput", "no evidence")
def test_what_a_killed_process_was_told_last_is_not_known(judge: Judge) -> None:
    """Its log is whole until its last tally at 3 s, and the next one started at 5 s: between them lies the unknown."""
    verdict = judge(killed(tally_at=3, restarted=5))
    counted = {name: figure(verdict, "acknowledgements", "writer", name) for name in ("baseline", "kill", "after_heal")}
    assert {name: one.censored for name, one in counted.items()} == {
        "baseline": False, "kill": True, "after_heal": False,
    }  # fmt: skip
    assert counted["kill"].value == 19
    assert figure(verdict, "throughput", "writer", "kill").censored


@pytest.mark.parametrize(("bound", "found"), [
    ({"min": 19}, Outcome.PASS), ({"min": 20}, Outcome.INCONCLUSIVE), ({"max": 19}, Outcome.INCONCLUSIVE),
])  # fmt: skip
def test_a_log_that_may_lack_some_proves_what_it_has(judge: Judge, bound: Row, found: Outcome) -> None:
    """Enough is enough, whatever is missing; too few may be more."""
    history = killed(tally_at=3, restarted=5)
    history.expect = {"acknowledgements": {"writer": {**bound, "during": "kill"}}}
    assert judge(history).verdict is found


def test_a_probe_has_no_figure_before_it_started(judge: Judge) -> None:
    """A second writer that started at 8 s: nothing was to come from it in the baseline, which is not none."""
    history = History(records=50)
    history.probes["late"] = {"produce": {"topic": "orders", "rate": "1/s", "started_by": "step"}}
    history.record["probes"].append({"probe": "late", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.worker("late", started=8, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.send(0, 9, probe="late", offset=50)
    history.read(50, 9.1, producer="late", seq=0)
    history.audit(50, producer="late", seq=0)
    verdict = judge(history)
    assert figure(verdict, "acknowledgements", "late", "baseline").value is None
    assert figure(verdict, "acknowledgements", "late", "after_heal").value == 1
    assert figure(verdict, "throughput", "late", "kill").value is None
