"""The head's causes: of consumers that never went on, and of bounds that a stall missed."""

from __future__ import annotations

from collections.abc import Callable

from sample_run import ns, objective, verdict, write_table

from chaosk.report.content import content
from chaosk.report.timeline import causes
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Finding, Outcome, Row, Severity, Verdict

MakeRun = Callable[..., RunDir]
SAID = "reader left readers 3 times: no poll within max.poll.interval.ms (5 min 0 s)"


def stuck(outcome: Outcome = Outcome.VIOLATION) -> Verdict:
    """A group that got nothing of one partition any more."""
    row: Row = {
        "reader": "readers", "topic": "orders", "partition": 0, "probe": "reader", "incarnation": 0,
        "began": int(ns(16.0)), "ended": int(ns(59.0)),
    }  # fmt: skip
    found = Finding(
        check="stuck_consumer", rule="B9", title="1 partition in which a consumer is stuck", count=1, evidence=(row,),
        severity=Severity.VIOLATION,
    )  # fmt: skip
    return verdict(found=outcome, verdict=outcome, findings=(found,))


def working_too_long(run: RunDir) -> RunDir:
    """Its member was told three times that it had not polled for too long."""
    write_table(run, "polls", {
        "probe": "reader", "incarnation": 0, "poll": [7, 8, 9], "invoked": ns([19, 29, 39]),
        "completed": ns([20, 30, 40]), "records": 0, "error": "_MAX_POLL_EXCEEDED",
    })  # fmt: skip
    return run


def test_a_stuck_consumer_has_its_cause_in_the_head(make_run: MakeRun) -> None:
    """In every form of the report: the errors of polls say why."""
    told = stuck()
    run = working_too_long(make_run(told))
    assert SAID in content(run).why
    assert SAID in causes(told, run)


def test_without_such_events_nothing_is_claimed(make_run: MakeRun) -> None:
    """The member held its partition and met no error."""
    assert not any("max.poll" in said for said in content(make_run(stuck())).why)


def test_a_run_that_passed_has_nothing_to_explain(make_run: MakeRun) -> None:
    """Whatever its members were told."""
    told = stuck(Outcome.PASS)
    run = working_too_long(make_run(told))
    assert content(run).why == ()
    assert causes(told, run) == ()


def test_a_missed_bound_has_the_longest_stall_of_its_subject(make_run: MakeRun) -> None:
    """With where the time went."""
    missed = objective("unavailability", "writer", 11.0, maximum=5.0)
    run = make_run(verdict(found=Outcome.DEGRADED, verdict=Outcome.DEGRADED, objectives=(missed,)))
    (said,) = content(run).why
    assert said.startswith("writer had nothing acknowledged of orders 0, 3 from +10.")
    assert "until broker 2 led orders 0" in said
