"""The content: everything a report tells, once, in order."""

from __future__ import annotations

from collections.abc import Callable

from sample_run import lost, verdict

from chaosk.report.content import content
from chaosk.rundir import RunDir
from chaosk.verdict import Outcome, Severity

MakeRun = Callable[..., RunDir]


def test_checks_tell_the_worst_that_they_found(make_run: MakeRun) -> None:
    """A check with allowed and violating rows is a violation; one that was not judged stays so, with why."""
    told = verdict(
        found=Outcome.VIOLATION,
        verdict=Outcome.VIOLATION,
        findings=(lost(Severity.ALLOWED), lost(Severity.VIOLATION)),
        checks={"lost": "found", "unseen": "clean", "poll_order": "not judged: it crashed: KeyError"},
    )
    found = {check: (state, why) for check, state, why in content(make_run(told)).checks}
    assert found["lost"][0] == "violation"
    assert found["unseen"] == ("clean", "")
    assert found["poll_order"] == ("not judged", "it crashed: KeyError")


def test_information_does_not_make_a_check_look_judged(make_run: MakeRun) -> None:
    """A check that could not judge is told as such even where it found rows worth knowing."""
    told = verdict(findings=(lost(Severity.INFORMATION),), checks={"lost": "not judged: the audit is incomplete"})
    assert content(make_run(told)).checks == (("lost", "not judged", "the audit is incomplete"),)


def test_a_clean_check_with_information_says_what(make_run: MakeRun) -> None:
    """Changes of leadership are no fault of the cluster's, and worth a word."""
    told = verdict(findings=(lost(Severity.INFORMATION),), checks={"lost": "clean"})
    ((check, state, why),) = content(make_run(told)).checks
    assert (check, state) == ("lost", "information")
    assert why.startswith("6,863")


def test_violations_come_first(make_run: MakeRun) -> None:
    """Whatever the order of the verdict."""
    kinds = (Severity.INFORMATION, Severity.ALLOWED, Severity.VIOLATION)
    told = verdict(findings=tuple(lost(kind) for kind in kinds))
    assert [finding.severity for finding, _, _ in content(make_run(told)).findings] == list(reversed(kinds))


def test_evidence_stands_beside_its_finding(make_run: MakeRun) -> None:
    """With the moments of the run's own clock."""
    ((_, table, predicted),) = content(make_run(verdict(findings=(lost(Severity.VIOLATION),)))).findings
    assert len(table.rows) == 20
    assert "+12.00 s" in table.rows[0]
    assert not predicted


def test_what_the_run_says_of_itself_is_told(make_run: MakeRun) -> None:
    """Interrupted, broken off, not healed: from run.json, in words."""
    run = make_run()
    run.run.write_text('{"interrupted": true, "error": "x", "not_healed": ["a", "b"]}', encoding="utf-8")
    told = content(run)
    assert (told.interrupted, told.broken_off, told.not_healed) == (True, "x", ("a", "b"))
