"""Reasons of findings: what allows one, and what is known of a violation, which nothing allows."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import unescape

import pytest
from rich.console import Console
from sample_run import lost, verdict

from chaosk.report import summary
from chaosk.report.content import content
from chaosk.report.headline import gist, headline
from chaosk.report.html import html
from chaosk.report.junit import junit
from chaosk.report.markdown import markdown
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome, Severity, Verdict

MakeRun = Callable[..., RunDir]
WHY = "deleted, as by DeleteRecords: nothing of this run deletes"


def deleted(severity: Severity) -> Verdict:
    """Records are lost, and their finding has a reason."""
    outcome = Outcome.VIOLATION if severity is Severity.VIOLATION else Outcome.PASS
    return verdict(found=outcome, verdict=outcome, findings=(lost(severity, reason=WHY),))


def forms(run: RunDir, told: Verdict) -> dict[str, str]:
    """The words of a verdict in each form of the report."""
    out = io.StringIO()
    Console(file=out, width=300).print(summary(told, run), soft_wrap=True)
    whole = content(run)
    page = unescape(re.sub(r"<[^>]+>", "", html(whole)))
    return {"html": page, "markdown": markdown(whole), "terminal": out.getvalue(), "junit": junit(told, ())}


@pytest.mark.parametrize("severity", [Severity.VIOLATION, Severity.ALLOWED])
def test_what_is_known_of_a_violation_does_not_allow_it(make_run: MakeRun, severity: Severity) -> None:
    """Every form of the report tells the reason, and calls it one that allows the loss where it is that."""
    told = deleted(severity)
    for form, words in forms(make_run(told), told).items():
        (before, *_) = words.partition(WHY)[0].rsplit("\n", 1)[-1:]
        assert WHY.replace("'", "&apos;") in words, form
        assert ("allow" in before.lower()[-40:]) is (severity is Severity.ALLOWED), (form, before)


def test_the_head_tells_a_violations_reason_once() -> None:
    """In short; and the rest of the first sentence does not repeat it."""
    told = deleted(Severity.VIOLATION)
    title = told.findings[0].title
    assert headline(told).startswith(f"VIOLATION — {title} (deleted, as by DeleteRecords)")
    judged = told.model_copy(update={"summary": f"VIOLATION: {title} ({WHY}); 50 acknowledged records."})
    assert gist(judged) == "50 acknowledged records."
