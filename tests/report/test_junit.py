"""junit.xml: red exactly if the verdict is, and everything in the category it belongs to."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
from sample_run import guard, lost, objective, verdict

from chaosk.report.junit import junit
from chaosk.rundir.verdict import Finding, Guard, Objective, Outcome, Severity, Verdict

PREDICTED = objective("lost_records", "orders", 6863, minimum=1, prediction=True, unit="records")


def suite(told: Verdict) -> TestSuite:
    """The one suite of the document."""
    (only,) = JUnitXml.fromstring(junit(told, (("seed", "42"),)).encode())
    return only


def cases(told: Verdict) -> dict[str, TestCase]:
    """Test cases by class and name."""
    return {f"{case.classname}: {case.name}": case for case in suite(told)}


def kinds(case: TestCase) -> list[type]:
    """The categories of a case's results."""
    return [type(result) for result in case.result]


def test_a_pass_is_green() -> None:
    """No failure and no error; what was not judged is skipped."""
    found = suite(verdict())
    assert (found.failures, found.errors, found.skipped) == (0, 0, 1)
    assert found.tests == len(verdict().checks) + 2 + 3


def test_every_check_and_objective_is_a_case() -> None:
    """Named as in the verdict, with what was measured."""
    found = cases(verdict())
    assert kinds(found["chaosk.check: lost"]) == []
    assert kinds(found["chaosk.check: poll_order"]) == [Skipped]
    case = found["chaosk.objective: unavailability of writer, whole run: at most 20 s"]
    assert "11.0 s" in case.system_out


def test_a_violation_is_a_failure_with_its_evidence() -> None:
    """The rule as its type, the first rows in the output."""
    told = verdict(
        found=Outcome.VIOLATION,
        verdict=Outcome.VIOLATION,
        findings=(lost(Severity.VIOLATION),),
        checks={"lost": "found"},
    )
    case = cases(told)["chaosk.check: lost"]
    assert kinds(case) == [Failure]
    assert case.result[0].type == "A4"
    assert "seq=7000" in case.system_out


def test_a_finding_of_an_unlisted_check_has_a_case() -> None:
    """Nothing that was found can be missing from the file."""
    told = verdict(found=Outcome.VIOLATION, verdict=Outcome.VIOLATION, findings=(lost(Severity.VIOLATION),), checks={})
    assert kinds(cases(told)["chaosk.check: lost"]) == [Failure]


def test_what_is_allowed_passes_and_is_told() -> None:
    """Allowed loss is in the output of its check, with the reason."""
    told = verdict(findings=(lost(Severity.ALLOWED, reason="acks is not all"),), objectives=(PREDICTED,))
    case = cases(told)["chaosk.check: lost"]
    assert kinds(case) == []
    assert "allowed: acks is not all" in case.system_out


def test_a_predicted_violation_passes() -> None:
    """The scenario said so, and the verdict is a pass."""
    told = verdict(found=Outcome.VIOLATION, expected=Outcome.VIOLATION, findings=(lost(Severity.VIOLATION),))
    assert (suite(told).failures, suite(told).errors) == (0, 0)


def test_a_guard_is_an_error() -> None:
    """With its name as the type and what to do as the message."""
    told = verdict(found=Outcome.INCONCLUSIVE, verdict=Outcome.INCONCLUSIVE, guards=(guard(), guard()))
    case = cases(told)["chaosk.run: the evidence carries"]
    assert kinds(case) == [Error, Error]
    assert case.result[0].type == "fault_not_verified"
    assert suite(told).failures == 0


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (objective("unavailability", "writer", 40, maximum=20), [Failure]),
        (objective("lost_records", "orders", 0, minimum=1, prediction=True, unit="records"), [Error]),
        (objective("calls_failed", "asker", 0, minimum=1, void=True, unit="count"), [Error]),
        (objective("recovery", "kill", None, maximum=20), [Skipped]),
        (objective("unavailability", "writer", 4, maximum=20), []),
    ],
)
def test_objectives_fail_err_or_are_skipped(found: Objective, kind: list[type]) -> None:
    """Missed is a failure, or an error if it was predicted or makes the run void; what was not measured is skipped."""
    told = verdict(objectives=(found,))
    (case,) = (case for name, case in cases(told).items() if name.startswith("chaosk.objective"))
    assert kinds(case) == kind


def test_a_cluster_that_was_not_put_back_is_an_error() -> None:
    """With what was left, by fault."""
    left = verdict().faults[0].model_copy(update={"undone": False, "why": "broker 1 does not start"})
    case = cases(verdict(healed=False, faults=(left,)))["chaosk.run: everything that was injected was undone"]
    assert kinds(case) == [Error]
    assert "kill: broker 1 does not start" in case.result[0].message


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    """Verdicts that an analysis can give."""
    outcome = draw(st.sampled_from(list(Outcome)))
    findings: tuple[Finding, ...] = (lost(Severity.VIOLATION),) if outcome is Outcome.VIOLATION else ()
    guards: tuple[Guard, ...] = (guard(),) if outcome is Outcome.INCONCLUSIVE or draw(st.booleans()) else ()
    missed = (objective("unavailability", "w", 40, maximum=20),) if outcome is Outcome.DEGRADED else ()
    if outcome is Outcome.PASS:
        guards = ()
    return verdict(found=outcome, verdict=outcome, findings=findings, guards=guards, objectives=missed)


@given(verdicts())
@settings(max_examples=30)
def test_it_is_red_exactly_if_the_verdict_is_no_pass(told: Verdict) -> None:
    """A CI server that looks at this file alone comes to the same conclusion as the exit code."""
    found = suite(told)
    red = bool(found.failures or found.errors)
    assert red == (told.exit_code != 0)
    assert bool(found.failures) == (told.verdict in {Outcome.VIOLATION, Outcome.DEGRADED})


@given(st.text())
@settings(max_examples=50)
def test_any_text_can_be_written(text: str) -> None:
    """Characters that XML cannot hold, and markup, stay text."""
    told = verdict(
        scenario=text, hypothesis=text, checks={"lost": f"not judged: {text}"}, guards=(Guard(guard="g", what=text),)
    )
    assert ET.fromstring(junit(told, (("seed", text),)).encode()).tag == "testsuites"  # noqa: S314 - our own


def test_it_is_the_same_every_time_and_has_no_date() -> None:
    """The suite's time is the run's duration, not the clock's."""
    assert junit(verdict(), ()) == junit(verdict(), ())
    assert suite(verdict()).time == pytest.approx(61.5)
    assert "timestamp" not in junit(verdict(), ())


def test_properties_name_the_run() -> None:
    """Hypothesis, headline, and what identifies the run."""
    named = {found.name: found.value for found in suite(verdict()).properties()}  # type: ignore[no-untyped-call]
    assert named["seed"] == "42"
    assert named["verdict"].startswith("PASS — ")
