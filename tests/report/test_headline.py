"""The headline: it says what stands, and never lets an allowed loss pass unmentioned."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import guard, lost, objective, verdict

from chaosk.report.headline import gist, headline, is_predicted, sign, tone
from chaosk.rundir.verdict import Finding, Guard, Outcome, Severity, Verdict

ALLOWED = lost(Severity.ALLOWED, reason="acks is not all: the leader alone acknowledged it")
PREDICTED = objective("lost_records", "orders", 6863, minimum=1, prediction=True, unit="records")


def test_a_clean_pass_says_how_much_was_asked() -> None:
    """How many checks were judged, how many were not, and how many objectives were met."""
    assert headline(verdict()) == "PASS — nothing wrong in 7 checks (1 not judged), 2 of 2 objectives met"


def test_a_pass_with_allowed_loss_says_so() -> None:
    """The loss, why it is allowed, and that it was predicted."""
    said = headline(verdict(findings=(ALLOWED,), objectives=(PREDICTED,)))
    assert said == "AS PREDICTED: 6,863 acknowledged records are not in the log (acks is not all)"


def test_allowed_loss_that_nobody_predicted_is_not_called_predicted() -> None:
    """A prediction that failed, or one of something else, is none of this."""
    others = (
        objective("lost_records", "orders", 6863, minimum=9999, prediction=True, unit="records"),
        objective("duplicate_records", "orders", 5, minimum=1, prediction=True, unit="records"),
        objective("lost_records", "orders", 6863, maximum=9999, unit="records"),
    )
    said = headline(verdict(findings=(ALLOWED,), objectives=others))
    assert said == "ALLOWED: 6,863 acknowledged records are not in the log (acks is not all)"


def test_what_makes_a_run_void_is_told_once() -> None:
    """By its guard, and not as an objective that was missed besides."""
    void = objective("calls_failed", "asker", 0, minimum=1, void=True, unit="count")
    guard = Guard(guard="run_void", what="the run shows nothing unless calls_failed is at least 1 count: it was 0")
    said = headline(
        verdict(found=Outcome.INCONCLUSIVE, verdict=Outcome.INCONCLUSIVE, objectives=(void,), guards=(guard,))
    )
    assert "run void: the run shows nothing unless calls_failed is at least 1 count" in said
    assert "asked for" not in said


def test_a_violation_comes_first() -> None:
    """Beside it other findings and missed objectives are told as well."""
    missed = objective("unavailability", "writer", 40, maximum=20)
    said = headline(
        verdict(
            found=Outcome.VIOLATION,
            verdict=Outcome.VIOLATION,
            findings=(lost(Severity.VIOLATION), ALLOWED),
            objectives=(missed,),
        )
    )
    assert said.startswith("VIOLATION — 6,863 acknowledged records are not in the log; ")
    assert said.endswith("unavailability of writer was 40.0 s, asked for at most 20 s")


def test_of_many_missed_objectives_the_first_is_told() -> None:
    """With its figures, and how many more."""
    missed = (objective("unavailability", "writer", 40, maximum=20), objective("recovery", "kill", 90, maximum=60))
    said = headline(verdict(found=Outcome.DEGRADED, verdict=Outcome.DEGRADED, objectives=missed))
    assert said == "DEGRADED — unavailability of writer was 40.0 s, asked for at most 20 s (and 1 more missed)"


def test_a_violation_that_was_predicted_passes_and_says_so() -> None:
    """The scenario said that it would be found; the headline does not hide that it was."""
    found = verdict(found=Outcome.VIOLATION, expected=Outcome.VIOLATION, findings=(lost(Severity.VIOLATION),))
    assert headline(found) == "AS PREDICTED: 6,863 acknowledged records are not in the log"


def test_an_expected_violation_in_a_run_that_did_not_pass_is_not_as_predicted() -> None:
    """If something else was found too, the run is a violation and nothing is excused by the headline."""
    found = verdict(
        found=Outcome.VIOLATION,
        expected=Outcome.VIOLATION,
        verdict=Outcome.VIOLATION,
        findings=(lost(Severity.VIOLATION),),
    )
    assert not is_predicted(found.findings[0], found)


def test_an_inconclusive_run_names_the_guard() -> None:
    """What was missing and what to do, and how many more."""
    inconclusive: dict[str, Any] = {"found": Outcome.INCONCLUSIVE, "verdict": Outcome.INCONCLUSIVE}
    said = headline(verdict(**inconclusive, guards=(guard(), guard())))
    assert said.startswith("INCONCLUSIVE — fault not verified: kill: broker 1 was already dead before the fault")
    assert said.endswith("(and 1 more)")


def test_a_cluster_that_was_not_put_back_is_told_first() -> None:
    """Nothing outranks it."""
    assert headline(verdict(healed=False)).startswith("PASS — NOT HEALED: the cluster is not as it was")


def test_what_the_verdict_rests_on_comes_first() -> None:
    """Guards where it is inconclusive, the missed objective where it is degraded, and loss that was predicted."""
    other = ALLOWED.model_copy(
        update={"check": "duplicate_in_log", "title": "5 duplicates", "reason": "idempotence is off"}
    )
    missed = objective("unavailability", "writer", 40, maximum=20)
    fields: dict[str, Any] = {"findings": (other, ALLOWED), "objectives": (PREDICTED, missed), "guards": (guard(),)}
    starts = {
        Outcome.INCONCLUSIVE: "INCONCLUSIVE — fault not verified: ",
        Outcome.DEGRADED: "DEGRADED — unavailability of writer was 40.0 s",
        Outcome.PASS: "AS PREDICTED: 6,863 acknowledged records are not in the log (acks is not all)",
    }
    for outcome, start in starts.items():
        assert headline(verdict(verdict=outcome, **fields)).startswith(start)


def test_information_is_no_headline() -> None:
    """An outage within its bound is measured, not announced."""
    assert "stretches" not in headline(verdict())


def test_a_loss_under_known_acks_names_them() -> None:
    """Of two rules with one cause the one that says what it comes to."""
    rows = tuple({**row, "acks": 1} for row in ALLOWED.evidence)
    lost_ones = ALLOWED.model_copy(update={"title": "4,295 records lost", "evidence": rows})
    offsets = lost_ones.model_copy(update={"check": "inconsistent_offset", "title": "5 offsets", "rule": "A1"})
    said = headline(verdict(findings=(offsets, lost_ones), objectives=(PREDICTED,)))
    assert said == "AS PREDICTED: 4,295 records lost under acks=1"


@pytest.mark.parametrize("findings", [(), (ALLOWED,), (lost(Severity.VIOLATION),)])
def test_no_loss_is_told_in_the_colour_of_a_pass(findings: tuple[Finding, ...]) -> None:
    """Nor under its sign."""
    told = verdict(findings=findings)
    assert (tone(told) == "pass") == (not findings)
    assert (sign(told) == sign(verdict())) == (not findings)
    assert tone(verdict(verdict=Outcome.VIOLATION, findings=findings)) == "violation"


@pytest.mark.parametrize("outcome", list(Outcome))
def test_each_outcome_has_a_shape_of_its_own(outcome: Outcome) -> None:
    """None is told by colour alone."""
    others = {sign(verdict(verdict=other)) for other in Outcome if other is not outcome}
    assert sign(verdict(verdict=outcome)) not in others


@given(
    st.sampled_from(list(Outcome)),
    st.lists(st.sampled_from([ALLOWED, lost(Severity.VIOLATION), lost(Severity.INFORMATION)]), max_size=3),
    st.integers(0, 3),
)
def test_a_finding_is_always_mentioned(outcome: Outcome, findings: list[Finding], guards: int) -> None:
    """Whatever the verdict: a headline that says nothing of a finding that is not mere information cannot be."""
    told: Verdict = verdict(verdict=outcome, findings=tuple(findings), guards=(guard(),) * guards)
    said = headline(told)
    wrong = any(f.severity is not Severity.INFORMATION for f in findings)
    word = "ALLOWED: " if outcome is Outcome.PASS and wrong else f"{outcome.upper()} — "
    assert said.startswith(word)
    assert ("not in the log" in said) == any(f.severity is not Severity.INFORMATION for f in findings)


def test_the_gist_is_what_the_headline_leaves_out() -> None:
    """Without the verdict's word, which stands above it."""
    assert gist(verdict()) == "Of 32,490 acknowledged records none was lost, repeated or out of order."


def test_what_the_headline_says_is_not_said_twice() -> None:
    """Findings and guards are in both sentences; only what is new remains."""
    found = verdict(
        found=Outcome.VIOLATION,
        verdict=Outcome.VIOLATION,
        findings=(lost(Severity.VIOLATION),),
        summary="VIOLATION: 6,863 acknowledged records are not in the log; something else.",
    )
    assert gist(found) == "Something else."
    open_end = f"INCONCLUSIVE: {guard().what} (and 1 more reason)."
    assert gist(verdict(summary=open_end, verdict=Outcome.INCONCLUSIVE, guards=(guard(),))) == ""


def test_no_sentence_no_gist() -> None:
    """An analysis of another version may have none."""
    assert gist(verdict(summary="")) == ""
