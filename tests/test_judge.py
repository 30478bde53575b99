"""The verdict from findings, guards and measures: worst wins, and predictions are kept to the letter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.expect import Expect
from chaosk.judge import Ruling, overall, rule, worst
from chaosk.metrics import METRICS
from chaosk.verdict import Finding, Guard, Measure, Outcome, Severity

GUARD = Guard(guard="audit_missing", what="not read")


def found(check: str = "lost", severity: Severity = Severity.VIOLATION, count: int = 1) -> Finding:
    """A finding."""
    return Finding(check=check, rule="A4", title="", severity=severity, count=count, evidence=())


def measure(
    metric: str, value: float | None, subject: str = "", window: str = "run", *, censored: bool = False
) -> Measure:
    """A measure."""
    unit = METRICS[metric].unit
    return Measure(metric=metric, subject=subject, window=window, value=value, unit=unit, censored=censored)


def ruled(expect: dict[str, Any] | None = None, *told: Finding | Guard | Measure) -> Ruling:
    """The ruling on what was told."""
    return rule(
        Expect.model_validate(expect or {}),
        [each for each in told if isinstance(each, Finding)],
        [each for each in told if isinstance(each, Guard)],
        [each for each in told if isinstance(each, Measure)],
    )


def test_nothing_found_is_a_pass() -> None:
    """No finding, no guard, no objective."""
    assert ruled().verdict is Outcome.PASS


@pytest.mark.parametrize("severity", [Severity.ALLOWED, Severity.INFORMATION])
def test_what_is_allowed_passes(severity: Severity) -> None:
    """Allowed findings and information are told, not held against the run."""
    assert ruled({}, found(severity=severity)).verdict is Outcome.PASS


def test_missing_evidence_is_inconclusive() -> None:
    """A guard that is not met."""
    assert ruled({}, GUARD).verdict is Outcome.INCONCLUSIVE


def test_a_proven_violation_stands_in_a_run_that_failed_otherwise() -> None:
    """Violation outranks missing evidence."""
    ruling = ruled({}, found(), GUARD)
    assert (ruling.found, ruling.verdict) == (Outcome.VIOLATION, Outcome.VIOLATION)


SLOW = measure("unavailability", 30.0, "writer")


def test_a_missed_objective_is_degraded() -> None:
    """30 s measured where 20 s were the bound; both are told."""
    ruling = ruled({"unavailability": {"writer": "20s"}}, SLOW)
    assert ruling.verdict is Outcome.DEGRADED
    (objective,) = ruling.objectives
    assert (objective.maximum, objective.measured, objective.met, objective.unit) == (20.0, 30.0, False, "s")


def test_a_kept_objective_passes() -> None:
    """Just in time."""
    assert ruled({"unavailability": {"writer": "30s"}}, SLOW).verdict is Outcome.PASS


def test_missing_evidence_outranks_a_missed_objective() -> None:
    """Inconclusive is worse than degraded."""
    assert ruled({"unavailability": "20s"}, SLOW, GUARD).verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("measures", [(), (measure("unavailability", None, "writer"),)])
def test_an_objective_that_could_not_be_measured_is_inconclusive(measures: tuple[Measure, ...]) -> None:
    """Nothing to measure is never a kept objective."""
    ruling = ruled({"unavailability": {"writer": "20s"}}, *measures)
    assert ruling.verdict is Outcome.INCONCLUSIVE
    assert [guard.guard for guard in ruling.guards] == ["objective_unmeasured"]
    assert ruling.objectives[0].met is None


def test_a_censored_figure_can_break_an_upper_bound_but_not_keep_it() -> None:
    """It lasted at least that long: over the bound already it is missed, below it nobody knows."""
    bound = {"recovery": {"kill": "20s"}}
    assert ruled(bound, measure("recovery", 30.0, "kill", censored=True)).verdict is Outcome.DEGRADED
    assert ruled(bound, measure("recovery", 10.0, "kill", censored=True)).verdict is Outcome.INCONCLUSIVE


def test_a_censored_figure_can_keep_a_lower_bound() -> None:
    """At least 30 s is at least 20 s; at least 10 s may be more than 20 s."""
    bound = {"unavailability": {"min": "20s"}}
    assert ruled(bound, measure("unavailability", 30.0, censored=True)).verdict is Outcome.PASS
    assert ruled(bound, measure("unavailability", 10.0, censored=True)).verdict is Outcome.INCONCLUSIVE


def test_a_figure_below_a_lower_bound_is_missed() -> None:
    """Lower bounds count as well."""
    assert ruled({"unavailability": {"min": "20s"}}, measure("unavailability", 10.0)).verdict is Outcome.DEGRADED


def test_the_whole_runs_figure_is_the_worst_or_the_sum() -> None:
    """By metric: the longest outage, the lowest rate, all lost records together; what was not measured is left out."""
    measures = [
        measure("unavailability", 1.0, "a"), measure("unavailability", 3.0, "b"), measure("unavailability", None, "c"),
        measure("lost_records", 1.0, "t1"), measure("lost_records", 2.0, "t2"), measure("rate", 5.0, "a"),
        measure("rate", 4.0, "b"), measure("unavailability", 9.0, "b", "kill"),
    ]  # fmt: skip
    assert overall("unavailability", "", "run", measures) == (3.0, False)
    assert overall("unavailability", "a", "run", measures) == (1.0, False)
    assert overall("unavailability", "", "kill", measures) == (9.0, False)
    assert overall("lost_records", "", "run", measures) == (3.0, False)
    assert overall("rate", "", "run", measures) == (4.0, False)


def test_the_figure_of_some_is_theirs_alone() -> None:
    """A sum over two of three probes, the worst of two; one of them without a figure, and nobody knows."""
    told = [measure("acknowledged_records", n, who) for who, n in (("a", 400.0), ("b", 500.0), ("c", 900.0))]
    told += [measure("unavailability", n, who) for who, n in (("a", 1.0), ("b", 3.0), ("c", 9.0))]
    assert overall("acknowledged_records", "", "run", told, ("a", "b")) == (900.0, False)
    assert overall("unavailability", "", "run", told, ("a", "b")) == (3.0, False)
    assert overall("acknowledged_records", "", "run", told, ("a", "d")) == (None, False)
    told.append(measure("acknowledged_records", None, "d"))
    assert overall("acknowledged_records", "", "run", told, ("a", "d")) == (None, False)


@pytest.mark.parametrize(("least", "verdict"), [(900, Outcome.PASS), (901, Outcome.DEGRADED)])
def test_a_bound_on_a_sum(least: int, verdict: Outcome) -> None:
    """Kept by both together or missed by both together, and named as both."""
    told = [measure("acknowledged_records", n, who) for who, n in (("a", 400.0), ("b", 500.0), ("c", 900.0))]
    ruling = ruled({"acknowledged_records": {"of": ["a", "b"], "min": least}}, *told)
    assert (ruling.verdict, ruling.objectives[0].subject, ruling.objectives[0].measured) == (verdict, "a and b", 900.0)


VOID = {"calls_failed": {"min": 3, "during": "cut", "or": "inconclusive"}}


def test_a_run_that_did_not_show_what_it_was_to_show_is_void() -> None:
    """One below what it takes: neither passed nor degraded; what it takes, and it counts as ever."""
    short = ruled(VOID, measure("calls_failed", 2.0, "asker", "cut"))
    assert (short.found, short.verdict) == (Outcome.INCONCLUSIVE, Outcome.INCONCLUSIVE)
    assert [guard.guard for guard in short.guards] == ["run_void"]
    assert "unless calls_failed in the window cut is at least 3 count: it was 2" in short.guards[0].what
    assert ruled(VOID, measure("calls_failed", 3.0, "asker", "cut")).verdict is Outcome.PASS


def test_a_void_run_hides_no_violation_and_no_missed_objective() -> None:
    """What is proven stands; and beside it a bound that was missed is still told as missed."""
    few = measure("calls_failed", 2.0, "asker", "cut")
    assert ruled(VOID, few, found()).verdict is Outcome.VIOLATION
    ruling = ruled({**VOID, "unavailability": "20s"}, few, SLOW)
    assert ruling.verdict is Outcome.INCONCLUSIVE
    assert [(each.metric, each.met) for each in ruling.objectives] == [
        ("calls_failed", False),
        ("unavailability", False),
    ]


def test_a_predicted_loss_may_void_the_run_as_well() -> None:
    """`or: inconclusive` on what is a prediction anyway: one reason, not two."""
    ruling = ruled({"lost_records": {"min": 1, "or": "inconclusive"}}, measure("lost_records", 0.0, "orders"))
    assert ruling.verdict is Outcome.INCONCLUSIVE
    assert [guard.guard for guard in ruling.guards] == ["run_void"]


def test_a_count_that_may_be_higher_keeps_a_lower_bound_and_no_upper_one() -> None:
    """At least 7 were counted: enough for 7, nothing known of 8, and more than 6 whatever is missing."""
    told = measure("acknowledged_records", 7.0, "writer", censored=True)
    verdicts = {
        bound: ruled({"acknowledged_records": {bound[0]: bound[1]}}, told).verdict
        for bound in (("min", 7), ("min", 8), ("max", 7), ("max", 6))
    }
    assert verdicts == {
        ("min", 7): Outcome.PASS, ("min", 8): Outcome.INCONCLUSIVE, ("max", 7): Outcome.INCONCLUSIVE,
        ("max", 6): Outcome.DEGRADED,
    }  # fmt: skip
    what = ruled({"acknowledged_records": {"min": 8}}, told).guards[0].what
    assert "at least 7 records and how much more nobody knows" in what


# --- predictions ------------------------------------------------------------------------------------------------------

LOSS = {"lost_records": {"min": 1}}


def test_a_predicted_loss_that_was_found_and_is_allowed_passes() -> None:
    """acks=1 loses, as predicted."""
    ruling = ruled(LOSS, found(severity=Severity.ALLOWED, count=12), measure("lost_records", 12.0, "orders"))
    assert ruling.verdict is Outcome.PASS
    assert ruling.objectives[0].prediction


def test_a_predicted_loss_that_was_not_found_is_inconclusive() -> None:
    """The run did not show what it was made to show."""
    ruling = ruled(LOSS, measure("lost_records", 0.0, "orders"))
    assert (ruling.found, ruling.verdict) == (Outcome.PASS, Outcome.INCONCLUSIVE)
    assert [guard.guard for guard in ruling.guards] == ["expected_outcome"]


def test_more_loss_than_predicted_is_a_missed_objective() -> None:
    """Exactly 12 were predicted, and 13 are gone: worse than predicted is no test that failed to bite."""
    assert ruled({"lost_records": 12}, measure("lost_records", 13.0)).verdict is Outcome.DEGRADED
    assert ruled({"lost_records": 12}, measure("lost_records", 12.0)).verdict is Outcome.PASS
    assert ruled({"lost_records": 12}, measure("lost_records", 11.0)).verdict is Outcome.INCONCLUSIVE


def test_a_bound_of_none_is_an_objective_and_no_prediction() -> None:
    """``lost_records: 0`` predicts nothing; losing one misses it."""
    ruling = ruled({"lost_records": 0}, measure("lost_records", 1.0))
    assert (ruling.verdict, ruling.objectives[0].prediction) == (Outcome.DEGRADED, False)


def test_a_predicted_violation_that_was_found_passes() -> None:
    """``verdict: violation`` alone covers every kind of violation."""
    ruling = ruled({"verdict": "violation"}, found())
    assert (ruling.found, ruling.verdict) == (Outcome.VIOLATION, Outcome.PASS)


def test_fail_is_another_word_for_violation() -> None:
    """As users may write it."""
    assert ruled({"verdict": "fail"}, found()).verdict is Outcome.PASS


def test_a_violation_of_another_kind_than_predicted_stands() -> None:
    """Loss was predicted; a duplicate was found as well."""
    expect = {"verdict": "violation", **LOSS}
    told = (found(), found("duplicate_in_log"), measure("lost_records", 1.0))
    assert ruled(expect, *told).verdict is Outcome.VIOLATION
    assert ruled(expect, *told[::2]).verdict is Outcome.PASS


def test_records_given_again_come_of_offsets_that_went_back() -> None:
    """Who predicts the one predicts the other: a position that was lost, and a commit that went back."""
    expect = {"verdict": "violation", "redelivered_records": {"min": 1}}
    told = (found("redelivery"), found("commit_regression"), found("reset_jump"))
    again = measure("redelivered_records", 1.0)
    assert ruled(expect, *told, again).verdict is Outcome.PASS
    assert ruled(expect, *told, again, found("commit_skip")).verdict is Outcome.VIOLATION


def test_a_predicted_violation_on_thin_evidence_is_inconclusive() -> None:
    """The prediction accounts for the violation, not for the guard that was not met."""
    assert ruled({"verdict": "violation"}, found(), GUARD).verdict is Outcome.INCONCLUSIVE


def test_a_predicted_violation_does_not_excuse_a_missed_objective() -> None:
    """Nor for an objective that was missed."""
    expect = {"verdict": "violation", "unavailability": "20s"}
    assert ruled(expect, found(), SLOW).verdict is Outcome.DEGRADED


@pytest.mark.parametrize("word", ["violation", "degraded", "inconclusive"])
def test_a_predicted_trouble_that_did_not_come_is_inconclusive(word: str) -> None:
    """A run that was to go wrong and went well did not test what it was to test."""
    ruling = ruled({"verdict": word})
    assert ruling.verdict is Outcome.INCONCLUSIVE
    assert ruling.guards[0].guard == "expected_outcome"


def test_a_predicted_degradation_passes() -> None:
    """What is degraded as predicted."""
    assert ruled({"verdict": "degraded", "unavailability": "20s"}, SLOW).verdict is Outcome.PASS


def test_worse_than_predicted_stands() -> None:
    """Predicted was a degradation, found a violation; and a pass was predicted, found is a degradation."""
    assert ruled({"verdict": "degraded", "unavailability": "20s"}, SLOW, found()).verdict is Outcome.VIOLATION
    assert ruled({"verdict": "pass", "unavailability": "20s"}, SLOW).verdict is Outcome.DEGRADED


SEVERITIES = st.sampled_from(list(Severity))


@given(
    severities=st.lists(SEVERITIES),
    guarded=st.booleans(),
    predicted=st.sampled_from([None, *Outcome]),
    outage=st.floats(0, 100),
)
def test_no_evidence_no_pass(
    severities: list[Severity],
    *,
    guarded: bool,
    predicted: Outcome | None,
    outage: float,
) -> None:
    """A pass rests neither on missing evidence nor on a violation, unless that itself was predicted."""
    expect = {"unavailability": "20s"} | ({"verdict": predicted.value} if predicted else {})
    told = [found(severity=severity) for severity in severities]
    ruling = ruled(expect, *told, *([GUARD] if guarded else []), measure("unavailability", outage))
    if ruling.verdict is Outcome.PASS:
        assert not guarded or predicted is Outcome.INCONCLUSIVE
        assert Severity.VIOLATION not in severities or predicted is Outcome.VIOLATION
        assert outage <= 20 or predicted in (Outcome.DEGRADED, Outcome.INCONCLUSIVE)


@given(st.permutations(list(Outcome)))
def test_the_worst_stands_in_any_order(outcomes: list[Outcome]) -> None:
    """Order does not matter."""
    assert worst(outcomes) is Outcome.VIOLATION
    assert worst([]) is Outcome.PASS
