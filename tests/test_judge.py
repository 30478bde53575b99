"""The verdict from findings, guards and measures: worst wins, and predictions are kept to the letter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosk.analysis.judge import Ruling, overall, rule, worst
from chaosk.rundir.verdict import Finding, Guard, Measure, Outcome, Severity
from chaosk.spec.expect import Expect
from chaosk.spec.metrics import METRICS
from chaosk.spec.prediction import Windows

GUARD = Guard(guard="audit_missing", what="not read")


def found(
    check: str = "lost", severity: Severity = Severity.VIOLATION, count: int = 1, rule: str = "A4", **where: Any
) -> Finding:
    """A finding, with one row of evidence where it is said where."""
    rows = (where,) if where else ()
    return Finding(check=check, rule=rule, title="", severity=severity, count=count, evidence=rows)


def measure(
    metric: str, value: float | None, subject: str = "", window: str = "run", *, censored: bool = False
) -> Measure:
    """A measure."""
    unit = METRICS[metric].unit
    return Measure(metric=metric, subject=subject, window=window, value=value, unit=unit, censored=censored)


def ruled(
    expect: dict[str, Any] | None = None, *told: Finding | Guard | Measure, windows: Windows | None = None
) -> Ruling:
    """The ruling on what was told."""
    return rule(
        Expect.model_validate(expect or {}),
        [each for each in told if isinstance(each, Finding)],
        [each for each in told if isinstance(each, Guard)],
        [each for each in told if isinstance(each, Measure)],
        windows or {},
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
    assert "unless calls_failed in the window cut is at least 3: it was 2" in short.guards[0].what
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
    assert "at least 7 records and possibly more" in what


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


@pytest.mark.parametrize("named", [{"rules": ["A4"]}, {"rules": {"A4": "all"}}, {"rules": {"A4": ["loose"]}}])
def test_a_violation_of_a_predicted_rule_passes(named: dict[str, Any]) -> None:
    """Of the rule that is named, where it is named."""
    ruling = ruled({"verdict": "violation", **named}, found(topic="loose"))
    assert (ruling.found, ruling.verdict) == (Outcome.VIOLATION, Outcome.PASS)
    assert [finding.predicted for finding in ruling.findings] == [True]


def test_fail_is_another_word_for_violation() -> None:
    """As users may write it."""
    assert ruled({"verdict": "fail", "rules": ["A4"]}, found()).verdict is Outcome.PASS


@pytest.mark.parametrize("word", ["violation", "fail"])
def test_a_violation_that_is_not_named_is_not_excused(word: str) -> None:
    """Plans of former runs say `verdict: violation` and no more: they are judged, and never pass by it."""
    ruling = ruled({"verdict": word}, found())
    assert (ruling.verdict, ruling.findings[0].predicted) == (Outcome.VIOLATION, False)


def test_rules_without_a_predicted_violation_excuse_nothing() -> None:
    """A rule that is named says which violation is predicted, not that one is."""
    assert ruled({"rules": ["A4"]}, found()).verdict is Outcome.VIOLATION


def test_a_rule_that_was_not_broken_as_predicted_is_inconclusive() -> None:
    """Each rule is to be broken, where it is named: the run did not show what it was made to show."""
    expect = {"verdict": "violation", "rules": {"A4": ["loose"], "B3": "all"}}
    ruling = ruled(expect, found(topic="loose"))
    assert (ruling.verdict, [guard.guard for guard in ruling.guards]) == (Outcome.INCONCLUSIVE, ["expected_outcome"])
    assert "predicts a violation of B3, and" in ruling.guards[0].what
    elsewhere = ruled(expect, found(topic="strict"), found("commit_skip", rule="B3", group="readers"))
    assert elsewhere.verdict is Outcome.VIOLATION
    assert "predicts a violation of A4 of loose, and" in elsewhere.guards[0].what


@pytest.mark.parametrize(
    ("severity", "verdict"),
    [
        (Severity.ALLOWED, Outcome.PASS),
        (Severity.INFORMATION, Outcome.INCONCLUSIVE),
        (Severity.VIOLATION, Outcome.VIOLATION),
    ],
)
def test_a_predicted_pass_with_a_rule_needs_an_allowed_finding_of_it(severity: Severity, verdict: Outcome) -> None:
    """A run without it shows nothing, and a violation of that rule stands."""
    assert ruled({"verdict": "pass", "rules": ["A4"]}, found(severity=severity)).verdict is verdict
    assert ruled({"verdict": "pass", "rules": ["A4"]}).verdict is Outcome.INCONCLUSIVE


def test_a_violation_of_another_rule_than_predicted_stands() -> None:
    """The one is named, the other is not."""
    told = found(topic="loose"), found("poll_order", rule="B2", topic="loose")
    assert ruled({"verdict": "violation", "rules": ["A4"]}, *told).verdict is Outcome.VIOLATION
    assert ruled({"verdict": "violation", "rules": ["A4", "B2"]}, *told).verdict is Outcome.PASS


LOOSE = {"verdict": "violation", "lost_records": {"loose": {"min": 1}}}


@pytest.mark.parametrize(
    ("topic", "verdict"), [("loose", Outcome.PASS), ("strict", Outcome.VIOLATION), (None, Outcome.VIOLATION)]
)
def test_a_loss_is_predicted_in_the_topic_that_is_named(topic: str | None, verdict: Outcome) -> None:
    """And nowhere else; of a row that names no topic nobody knows that it is of this one."""
    where: dict[str, Any] = {"topic": topic, "partition": 0}
    assert ruled(LOOSE, found(**where), measure("lost_records", 1.0, "loose")).verdict is verdict


def test_a_loss_in_two_topics_is_not_excused_by_the_prediction_of_one() -> None:
    """Whether as two findings or as two rows of one; and both are predicted by a bound on each, or on both."""
    rows: tuple[dict[str, Any], ...] = ({"topic": "loose"}, {"topic": "strict"})
    told = (measure("lost_records", 1.0, "loose"), measure("lost_records", 1.0, "strict"))
    one = found(count=2).model_copy(update={"evidence": rows})
    for losses in ([one], [found(**row) for row in rows]):
        assert ruled(LOOSE, *losses, *told).verdict is Outcome.VIOLATION
        for bound in ({"loose": {"min": 1}, "strict": {"min": 1}}, {"of": ["loose", "strict"], "min": 2}, {"min": 2}):
            assert ruled({"verdict": "violation", "lost_records": bound}, *losses, *told).verdict is Outcome.PASS


def test_a_duplicate_across_two_topics_is_of_both() -> None:
    """It is predicted where both are."""
    twice = found("duplicate_in_log", rule="A2", topic="loose", other_topic="strict")
    for named in ({"duplicate_records": {"loose": {"min": 1}}}, {"rules": {"A2": ["loose"]}}):
        assert ruled({"verdict": "violation", **named}, twice, measure("duplicate_records", 1.0, "loose")).verdict is (
            Outcome.VIOLATION
        )
    both = {"verdict": "violation", "rules": {"A2": ["loose", "strict"]}}
    assert ruled(both, twice).verdict is Outcome.PASS


def test_what_a_group_never_got_is_predicted_of_that_group() -> None:
    """Another group's is not."""
    expect = {"verdict": "violation", "unseen_records": {"readers": {"min": 1}}}
    told = measure("unseen_records", 1.0, "readers")
    for group, verdict in (("readers", Outcome.PASS), ("others", Outcome.VIOLATION)):
        assert ruled(expect, found("unseen", rule="A5", group=group, topic="orders"), told).verdict is verdict


def test_a_topic_that_was_made_again_is_the_same_one() -> None:
    """Evidence calls the one before it `loose (deleted)`."""
    assert ruled(LOOSE, found(topic="loose (deleted)"), measure("lost_records", 1.0, "loose")).verdict is Outcome.PASS


@pytest.mark.parametrize(
    ("began", "ended", "verdict"),
    [
        (10, 12, Outcome.PASS), (5, 10, Outcome.PASS), (19, None, Outcome.PASS), (20, 30, Outcome.VIOLATION),
        (1, 9, Outcome.VIOLATION), (None, None, Outcome.VIOLATION),
    ],
)  # fmt: skip
def test_a_loss_is_predicted_in_the_window_that_is_named(began: int, ended: int, verdict: Outcome) -> None:
    """One that may have come about in it; of one without a time nobody knows."""
    expect = {"verdict": "violation", "lost_records": {"min": 1, "during": "kill"}}
    told = found(topic="loose", began=began, ended=ended), measure("lost_records", 1.0, "loose", "kill")
    assert ruled(expect, *told, windows={"kill": (10, 20)}).verdict is verdict


def test_more_than_is_predicted_at_most_is_a_violation() -> None:
    """12 at most were predicted: the thirteenth is not, and which of them that is nobody can say."""
    expect = {"verdict": "violation", "lost_records": {"loose": {"min": 1, "max": 12}}}
    for count, verdict in ((12, Outcome.PASS), (13, Outcome.VIOLATION)):
        assert ruled(expect, found(count=count, topic="loose"), measure("lost_records", count, "loose")).verdict is (
            verdict
        )


def test_an_allowed_loss_is_predicted_where_it_is_named() -> None:
    """It needs no predicted violation, and what is not named is told as not predicted."""
    told = [found(severity=Severity.ALLOWED, topic=topic) for topic in ("loose", "other")]
    ruling = ruled({"lost_records": {"loose": {"min": 1}}}, *told, measure("lost_records", 1.0, "loose"))
    assert ruling.verdict is Outcome.PASS
    assert [finding.predicted for finding in ruling.findings] == [True, False]


def test_a_violation_of_another_kind_than_predicted_stands() -> None:
    """Loss was predicted; a duplicate was found as well."""
    expect = {"verdict": "violation", **LOSS}
    told = (found(), found("duplicate_in_log"), measure("lost_records", 1.0))
    assert ruled(expect, *told).verdict is Outcome.VIOLATION
    assert ruled(expect, *told[::2]).verdict is Outcome.PASS


def test_records_given_again_come_of_offsets_that_went_back() -> None:
    """Who predicts the one predicts the other: a position that was lost, and a commit that went back."""
    expect = {"verdict": "violation", "redelivered_records": {"min": 1}}
    told = (found("redelivery"), found("commit_regression", kind="self"), found("reset_jump"))
    again = measure("redelivered_records", 1.0)
    assert ruled(expect, *told, again).verdict is Outcome.PASS
    assert ruled(expect, *told, again, found("commit_skip")).verdict is Outcome.VIOLATION
    lost = found("commit_regression", rule="B6", kind="lost_commit")
    assert ruled(expect, *told, again, lost).verdict is Outcome.VIOLATION
    assert ruled(expect | {"rules": ["B6"]}, *told, again, lost).verdict is Outcome.PASS


def test_a_predicted_violation_on_thin_evidence_is_inconclusive() -> None:
    """The prediction accounts for the violation, not for the guard that was not met."""
    assert ruled({"verdict": "violation", "rules": ["A4"]}, found(), GUARD).verdict is Outcome.INCONCLUSIVE


def test_a_predicted_violation_does_not_excuse_a_missed_objective() -> None:
    """Nor for an objective that was missed."""
    expect = {"verdict": "violation", "rules": ["A4"], "unavailability": "20s"}
    assert ruled(expect, found(), SLOW).verdict is Outcome.DEGRADED


@pytest.mark.parametrize("word", ["violation", "degraded", "inconclusive"])
def test_a_predicted_trouble_that_did_not_come_is_inconclusive(word: str) -> None:
    """A run that was to go wrong and went well did not test what it was to test."""
    ruling = ruled({"verdict": word})
    assert ruling.verdict is Outcome.INCONCLUSIVE
    assert ruling.guards[0].guard == "expected_outcome"


@pytest.mark.parametrize("guard", ["not_healed", "nothing_happened", "run_interrupted", "audit_missing"])
@pytest.mark.parametrize("word", [None, *Outcome])
def test_missing_evidence_is_never_predicted_away(guard: str, word: str | None) -> None:
    """Whatever a scenario asks for, `inconclusive` above all: plans of former runs do."""
    ruling = ruled({"verdict": word} if word else {}, Guard(guard=guard, what="it is so"))
    assert ruling.verdict is Outcome.INCONCLUSIVE


def test_a_predicted_degradation_passes() -> None:
    """What is degraded as predicted."""
    assert ruled({"verdict": "degraded", "unavailability": "20s"}, SLOW).verdict is Outcome.PASS


def test_a_predicted_degradation_excuses_nothing_where_it_does_not_say_which() -> None:
    """Of two bounds either could be meant to be missed."""
    expect = {"verdict": "degraded", "unavailability": "20s", "lost_records": 0}
    for lost in (0.0, 1.0):
        assert ruled(expect, SLOW, measure("lost_records", lost)).verdict is Outcome.DEGRADED


def test_worse_than_predicted_stands() -> None:
    """Predicted was a degradation, found a violation; and a pass was predicted, found is a degradation."""
    assert ruled({"verdict": "degraded", "unavailability": "20s"}, SLOW, found()).verdict is Outcome.VIOLATION
    assert ruled({"verdict": "pass", "unavailability": "20s"}, SLOW).verdict is Outcome.DEGRADED


# --- whatever is expected ---------------------------------------------------------------------------------------------

TOPICS, CHECKS = ("loose", "strict"), {"lost": "A4", "lost_write": "A3", "poll_order": "B2"}
_LOST = st.fixed_dictionaries({"min": st.integers(0, 3)}, optional={"max": st.integers(3, 5)}) | st.integers(0, 4)
EXPECTS = st.fixed_dictionaries(
    {},
    optional={
        "verdict": st.sampled_from(list(Outcome)),
        "rules": st.lists(st.sampled_from(["A4", "A3", "B2"]), min_size=1, unique=True)
        | st.dictionaries(
            st.sampled_from(["A4", "B2"]),
            st.lists(st.sampled_from(TOPICS), min_size=1, unique=True) | st.just("all"),
            min_size=1,
        ),
        "lost_records": _LOST | st.dictionaries(st.sampled_from(TOPICS), _LOST, min_size=1),
        "unavailability": st.sampled_from(["20s", {"min": "20s"}, {"max": "20s", "or": "inconclusive"}]),
    },
)
FINDINGS = st.lists(
    st.builds(
        lambda check, severity, topic: found(check, severity, rule=CHECKS[check], topic=topic),
        st.sampled_from(sorted(CHECKS)),
        st.sampled_from(list(Severity)),
        st.sampled_from([*TOPICS, None]),
    ),
    max_size=4,
)
GUARDS = st.lists(
    st.sampled_from(["not_healed", "nothing_happened", "run_interrupted", "step_skipped", "log_truncated"]).map(
        lambda name: Guard(guard=name, what="so it was")
    ),
    max_size=2,
)
MEASURES = st.fixed_dictionaries(
    {},
    optional={
        "unavailability": st.builds(
            lambda value, censored: measure("unavailability", value, "writer", censored=censored),
            st.none() | st.floats(0, 100),
            st.booleans(),
        ),
        "loose": st.integers(0, 6).map(lambda count: measure("lost_records", float(count), "loose")),
        "strict": st.integers(0, 6).map(lambda count: measure("lost_records", float(count), "strict")),
    },
).map(lambda told: list(told.values()))


def named(expect: dict[str, Any], finding: Finding) -> bool:
    """Whether an expectation names a violation: said again, as plainly as it can be."""
    topic = finding.evidence[0]["topic"]
    rules = expect.get("rules", [])
    if finding.rule in rules and (
        isinstance(rules, list) or rules[finding.rule] == "all" or topic in rules[finding.rule]
    ):
        return True
    bound = expect.get("lost_records", 0)
    if isinstance(bound, dict) and set(bound) <= set(TOPICS):
        bound = bound.get(topic, 0)
    least = bound["min"] if isinstance(bound, dict) else bound
    return least > 0 and finding.check in ("lost", "lost_write")


@settings(max_examples=1500)
@given(EXPECTS, FINDINGS, GUARDS, MEASURES)
def test_no_pass_on_missing_evidence_nor_on_what_nobody_named(
    expect: dict[str, Any], findings: list[Finding], guards: list[Guard], measures: list[Measure]
) -> None:
    """All combinations of guards, findings, objectives and expectations: what keeps a run from passing keeps it so.

    A guard, whichever; a violation that is not named by rule or count where it was found; an objective that is not
    known to be met, unless it is the only one and the scenario predicts that it is missed.
    """
    ruling = ruled(expect, *findings, *guards, *measures)
    broken = [each for each in findings if each.severity is Severity.VIOLATION]
    unnamed = [each for each in broken if expect.get("verdict") != "violation" or not named(expect, each)]
    if guards:
        assert ruling.verdict in (Outcome.INCONCLUSIVE, Outcome.VIOLATION)
        assert ruling.found in (Outcome.INCONCLUSIVE, Outcome.VIOLATION)
    if unnamed:
        assert ruling.verdict is Outcome.VIOLATION
    if broken:
        assert ruling.found is Outcome.VIOLATION
    if ruling.verdict is Outcome.PASS:
        assert not ruling.guards
        missed = [each for each in ruling.objectives if each.met is not True]
        assert not missed or (expect["verdict"] == "degraded" and len(ruling.objectives) == 1)
        assert expect.get("verdict") in (None, ruling.found)


@given(st.permutations(list(Outcome)))
def test_the_worst_stands_in_any_order(outcomes: list[Outcome]) -> None:
    """Order does not matter."""
    assert worst(outcomes) is Outcome.VIOLATION
    assert worst([]) is Outcome.PASS
