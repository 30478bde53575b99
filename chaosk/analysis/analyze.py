"""Analysis of one run: reads its case and events, writes verdict and evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pyspark.sql import SparkSession

from chaosk.analysis.activity import activity
from chaosk.analysis.case import Case
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import CheckResult, ask_all
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.events import SMALL, Events
from chaosk.analysis.frames.absent import bereft
from chaosk.analysis.guards import guards
from chaosk.analysis.held_back import held_back
from chaosk.analysis.judge import rule
from chaosk.analysis.ledger import ANSWERING, accounts, audited
from chaosk.analysis.recreated.renumber import apart
from chaosk.analysis.self_check import recounted, tallied
from chaosk.analysis.spark import failures_as, tune
from chaosk.analysis.stillness import told
from chaosk.analysis.summary import summary
from chaosk.analysis.unended_transactions import unended, untold
from chaosk.core import files
from chaosk.core.errors import AnalysisError
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Account, Guard, Severity, Verdict
from chaosk.spec.prediction import FOLLOWING, Losses, predictions


def analyze(
    spark: SparkSession | Callable[[], SparkSession], rundir: RunDir, kinds: Mapping[str, type[Check]] | None = None
) -> Verdict:
    """Judge a run directory: write ``evidence/`` and ``verdict.json``, and return the verdict.

    ``spark`` may be a function that returns a session: it is called if a check needs Spark. A run of ordinary size in
    which nothing is suspected does not need it.

    An earlier verdict is removed first, since it may not agree with the events any more. The same events give the same
    bytes, with any Spark master. Raises AnalysisError if the run cannot be judged.
    """
    rundir.verdict.unlink(missing_ok=True)  # an older one would remain if this one fails
    recorded = read_case(rundir)
    with apart(recorded) as case:
        tuned = partial(_tuned, spark, sum(recorded.rows.values()))
        events = Events(tuned, case, None if case is recorded else Events(tuned, recorded))
        with failures_as(f"{rundir.root}: the events cannot be judged"):
            try:
                answers = ask_all(events, None if kinds is None else dict(kinds))
                ledger = accounts(events) if kinds is None or kinds.keys() >= ANSWERING else ()
                progress = events.once(activity)
                met = (
                    *guards(case, progress), *tallied(recorded, recounted(events.whole), progress),
                    *unended(case, untold(events)),
                )  # fmt: skip
                lost = events.once(bereft) if _predicts_loss(case, answers) else None
            finally:
                events.release()
    verdict = conclude(case, answers, met, ledger, lost)
    write(verdict, rundir)
    return verdict


def _tuned(spark: SparkSession | Callable[[], SparkSession], rows: int) -> SparkSession:
    """Return the session, with options for a run of so many rows."""
    session = spark() if callable(spark) else spark
    tune(session, small=rows <= SMALL, rows=rows)
    return session


def _predicts_loss(case: Case, answers: tuple[CheckResult, ...]) -> bool:
    """Return True if a predicted loss may explain one of the findings at the place of the loss."""
    told = predictions(case.plan.expect)
    found = {finding.check for answer in answers for finding in answer.findings} & FOLLOWING
    return any(each.metric and each.is_about(check, "") for each in told for check in found)


def conclude(
    case: Case,
    answers: tuple[CheckResult, ...],
    met: tuple[Guard, ...],
    ledger: tuple[Account, ...] = (),
    lost: Losses | None = None,
) -> Verdict:
    """Combine the results of checks, guards and ledger into the verdict; pure."""
    findings = sorted(
        (f for answer in answers for f in answer.findings),
        key=lambda f: (list(Severity).index(f.severity), f.rule, f.check),
    )
    figures = told(case, (m for answer in answers for m in answer.measures))
    measures = sorted(figures, key=lambda m: (m.metric, m.subject, m.window))
    guards = [*met, *(guard for answer in answers for guard in answer.guards)]
    windows = {span.name: (span.began, span.ended) for span in case.windows}
    guards += [*audited(ledger, findings, guards), *held_back(case, findings)]
    ruling = rule(case.plan.expect, findings, guards, measures, windows, lost)
    last = max([case.record.ended, *(span.ended for span in case.phases if span.name == "audit")])
    return Verdict(
        scenario=case.plan.name,
        hypothesis=case.plan.hypothesis,
        covers=case.plan.covers,
        found=ruling.found,
        expected=case.plan.expect.verdict,
        verdict=ruling.verdict,
        summary=summary(ruling, findings, ledger),
        began=case.record.began,
        wall=case.record.wall,
        duration=round((last - case.record.began) / 1e9, 3),
        ledger=ledger,
        guards=ruling.guards,
        findings=ruling.findings,
        objectives=ruling.objectives,
        measures=tuple(measures),
        faults=case.acted,
        decisions=case.decisions,
        checks={answer.check: answer.state for answer in answers},
        healed=case.record.healed and all(fault.undone for fault in case.acted),
        allowed=case.plan.allow.reasons(),
    )


def write(verdict: Verdict, rundir: RunDir) -> None:
    """Write ``verdict.json`` atomically; raises AnalysisError if it cannot be written."""
    partial = rundir.verdict.with_suffix(".partial")
    try:
        files.fresh_text(partial, verdict.model_dump_json(indent=2) + "\n")
        partial.replace(rundir.verdict)
    except OSError as error:
        raise AnalysisError(f"{rundir.verdict}: cannot be written: {error.strerror}; free some space") from error
