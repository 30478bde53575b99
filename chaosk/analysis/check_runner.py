"""Run the checks, each isolated, so that a crashed check does not affect the others, and is never a pass."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    IllegalArgumentException,
    PySparkException,
    PySparkTypeError,
    PySparkValueError,
)
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.events import Events
from chaosk.analysis.evidence import Summary, keep, write_none
from chaosk.analysis.screens import screened
from chaosk.analysis.stillness import stood_still
from chaosk.core import plugins
from chaosk.core.errors import ChaoskError
from chaosk.rundir.verdict import Finding, Guard, Measure, Severity

log = structlog.get_logger()

TOGETHER = 3
"""Number of concurrent checks: while one is planned, another computes."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check."""

    check: str
    state: str
    """``clean``, ``found``, or ``not judged: <why>``."""
    findings: tuple[Finding, ...] = ()
    measures: tuple[Measure, ...] = ()
    guards: tuple[Guard, ...] = ()


_OWN_FAULT = (AnalysisException, ArithmeticException, IllegalArgumentException, PySparkTypeError, PySparkValueError)
"""Exceptions that Spark raises for a wrong query, as opposed to unreadable events."""


def checks() -> dict[str, type[Check]]:
    """Return every check by its file name."""
    return plugins.discover("chaosk.analysis.checks", Check)


def ask_all(events: Events, kinds: dict[str, type[Check]] | None = None) -> tuple[CheckResult, ...]:
    """Run every check, several at once; return the answers by name of the check."""
    chosen = checks() if kinds is None else kinds
    with ThreadPoolExecutor(TOGETHER) as pool:
        return tuple(pool.map(lambda item: ask(events, *item), sorted(chosen.items())))


def ask(events: Events, name: str, kind: type[Check]) -> CheckResult:
    """Run one check. Any exception in it makes it "not judged", with a guard: a crashed check is never a pass.

    Errors of Spark or of the event tables are raised: no check can be judged then.
    """
    try:
        return _answer(events.whole if kind.as_recorded else events, name, kind())
    except _OWN_FAULT as error:
        return crashed(name, error)
    except (Py4JError, PySparkException, ChaoskError, ConnectionError, EOFError):
        raise
    except Exception as error:
        log.warning("check crashed", check=name, exc_info=True)
        return crashed(name, error)


def crashed(name: str, error: BaseException) -> CheckResult:
    """Return the answer of a check that crashed."""
    said = (str(error).strip().splitlines() or [""])[0][:300]
    what = f"the check {name} crashed, so its rule was not judged: {type(error).__name__}: {said}"
    return CheckResult(
        name, f"not judged: it crashed: {type(error).__name__}", guards=(Guard(guard="check_crashed", what=what),)
    )


def _answer(events: Events, name: str, check: Check) -> CheckResult:
    if (guard := _clock_guard(events, name, check)) is not None:
        return CheckResult(name, f"not judged: {guard.what}", guards=(guard,))
    summaries, kept = _rows(events, name, check)
    measures = tuple(check.measures(events, kept))
    if undeclared := sorted({measure.metric for measure in measures} - {*check.metrics}):
        raise ValueError(f"it measures {', '.join(undeclared)}, which its `metrics` does not name")
    found = tuple(_finding(name, check, s) for s in summaries if s.severity != "unproven")
    guards = tuple(_unproven(name, check, s) for s in summaries if s.severity == "unproven")
    telling = [finding for finding in found if finding.severity is not Severity.INFORMATION]
    return CheckResult(name, _state(bool(telling), guards, check.unjudged(events)), found, measures, guards)


def _rows(events: Events, name: str, check: Check) -> tuple[tuple[Summary, ...], CheckRows]:
    """Return the check's rows, kept as evidence; none if its glance or its screens rule them out."""
    if events.glances and not check.glance(events.rows):
        write_none(events, name)
        return (), CheckRows()
    if check.screens and not any(events.once(screened)[screen] for screen in check.screens):
        write_none(events, name)
        return (), CheckRows()
    rows = check.violations(events)
    return ((), CheckRows()) if rows is None else keep(events, check, name, _proven(events, check, rows))


def _proven(events: Events, check: Check, rows: DataFrame) -> DataFrame:
    """Mark rows as unproven if they may be due to known missing or surplus rows of the event tables."""
    why = _doubt(events.case, check)
    if why is None:
        return rows
    told = F.col("severity").isin(Severity.VIOLATION.value, Severity.ALLOWED.value)
    return rows.withColumns(
        {
            "severity": F.when(told, "unproven").otherwise(F.col("severity")),
            "reason": F.when(told, F.lit(why)).otherwise(F.col("reason")),
        }
    )


def _doubt(case: Case, check: Check) -> str | None:
    """Return the reason why the run cannot prove rows of a check; None if it can."""
    if lacking := case.short(*check.by_absence_of):
        return f"rows of the event table {' and of '.join(lacking)} are missing, so what is not there proves nothing"
    if more := case.surplus(*check.tables):
        return f"the event table {' and '.join(more)} has more rows than were written, so what is there proves nothing"
    readers = {probe for probe, _ in case.consumers}
    if check.by_waiting and (names := sorted({span.name for span in stood_still(case, readers)})):
        return f"{' and '.join(names)} stood still by chaosk's own trouble, and not the cluster's"
    return None


def _state(found: bool, guards: tuple[Guard, ...], why: str | None) -> str:  # noqa: FBT001 - called once, right above
    if found:
        return "found"
    why = guards[0].what if guards else why
    return "clean" if why is None else f"not judged: {why}"


def _finding(name: str, check: Check, summary: Summary) -> Finding:
    severity = Severity(summary.severity)
    violated = severity is Severity.VIOLATION
    return Finding(
        check=name,
        rule=check.rule,
        title=_title(check, summary.count),
        severity=severity,
        reason="; ".join(summary.reasons) or None,
        count=summary.count,
        evidence=summary.rows,
        faults=summary.faults,
        suspects=check.suspects if violated else (),
    )


def _title(check: Check, count: int) -> str:
    one, many = check.counted
    return f"{count:,} {one if count == 1 else many}"


def _unproven(name: str, check: Check, summary: Summary) -> Guard:
    reasons = "; ".join(summary.reasons)
    what = f"{_title(check, summary.count)}, which the evidence neither proves nor rules out: {reasons}"
    return Guard(guard=f"{name}_unproven", what=f"{what}; the rows are in evidence/{name}.jsonl")


def _clock_guard(events: Events, name: str, check: Check) -> Guard | None:
    if check.clock_error is None:
        return None
    rows = events.table("host_clocks").groupBy("host").agg({"error": "max"}).collect()
    worst = max(((int(row["max(error)"]), str(row["host"])) for row in rows), default=None)
    if worst is None:
        what = f"{name} compares clocks of hosts, and none was measured"
    elif worst[0] / 1e9 > check.clock_error:
        what = (
            f"{name} bears clock errors of hosts up to {check.clock_error:g} s; that of {worst[1]} "
            f"is known only to {worst[0] / 1e9:g} s"
        )
    else:
        return None
    return Guard(guard="clock_error", what=what)
