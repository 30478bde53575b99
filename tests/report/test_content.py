"""The content: everything a report tells, once, in order."""

from __future__ import annotations

import json
from collections.abc import Callable

from sample_run import ZERO, lost, verdict

from chaosk.report.content import content
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome, Severity

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
    assert [shown.finding.severity for shown in content(make_run(told)).findings] == list(reversed(kinds))


def test_evidence_stands_beside_its_finding(make_run: MakeRun) -> None:
    """With the moments of the run's own clock."""
    (shown,) = content(make_run(verdict(findings=(lost(Severity.VIOLATION),)))).findings
    (proof,) = shown.proofs
    assert len(proof.table.rows) == 20
    assert "+12.00 s" in proof.table.rows[0]
    assert not shown.predicted


def test_every_row_of_evidence_is_in_the_ranges(make_run: MakeRun) -> None:
    """The verdict holds the first ones, the file all of them; those of another severity are another finding's."""
    run = make_run(verdict(findings=(lost(Severity.VIOLATION),)))
    rows = [
        {"severity": severity, "reason": None, "topic": "orders", "partition": 0, "offset": n, "began": ZERO}
        for severity, many in (("violation", 6863), ("unproven", 9))
        for n in range(many)
    ]
    run.evidence.mkdir(exist_ok=True)
    (run.evidence / "lost.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    told = content(run)
    assert told.findings[0].proofs[0].ranges == ("orders-0: offsets 0 to 6862, 6,863 records, sent +0.00 s",)


def test_a_wait_is_no_fault(make_run: MakeRun) -> None:
    """Nor is a look: they are listed apart, and no band is drawn for them."""
    kill = verdict().faults[0]
    wait = kill.model_copy(update={"name": "whole", "step": "wait", "targets": ""})
    look = kill.model_copy(update={"name": "look", "step": "observe", "targets": ""})
    told = content(make_run(verdict(faults=(kill, wait, look))))
    assert (told.faults, told.waits) == ((kill,), (wait, look))
    assert "whole" not in told.svg
    assert "look" not in told.svg


def test_what_the_run_says_of_itself_is_told(make_run: MakeRun) -> None:
    """Interrupted, broken off, not healed: from run.json, in words."""
    run = make_run()
    run.run.write_text('{"interrupted": true, "error": "x", "not_healed": ["a", "b"]}', encoding="utf-8")
    told = content(run)
    assert (told.interrupted, told.broken_off, told.not_healed) == (True, "x", ("a", "b"))
