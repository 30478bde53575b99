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
from chaosk.analysis.check_rows import CheckRows, FewRows
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
    """Run every check, several at once; return the answers by name of the check.

    Spark is started before, if one of them needs it: if glances or screens do not rule out that it finds something.
    """
    chosen = sorted((checks() if kinds is None else kinds).items())
    with ThreadPoolExecutor(TOGETHER) as pool:
        asked = tuple(pool.map(lambda item: _Asked.of(events, *item), chosen))
        if not events.glances or any(question.needs_spark for question in asked):
            _ = events.spark
        return tuple(pool.map(lambda question: question.answer(), asked))


def ask(events: Events, name: str, kind: type[Check]) -> CheckResult:
    """Run one check, see ``ask_all``."""
    return ask_all(events, {name: kind})[0]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A check, and whether it may find something."""

    events: Events
    name: str
    check: Check
    suspicious: bool
    few: FewRows | None
    """Its rows, if it needs no Spark for them."""
    crash: Exception | None = None

    @classmethod
    def of(cls, events: Events, name: str, kind: type[Check]) -> _Asked:
        mine, check = (events.whole if kind.as_recorded else events), kind()
        try:
            suspicious = _suspicious(mine, check)
            few = check.plain(mine) if suspicious and (mine.glances or not queries(check)) else None
            return cls(mine, name, check, suspicious, few)
        except ChaoskError:
            raise
        except Exception as error:
            log.warning("check crashed", check=name, exc_info=True)
            return cls(mine, name, check, suspicious=False, few=None, crash=error)

    @property
    def needs_spark(self) -> bool:
        """Return True if its rows are computed with Spark."""
        return self.suspicious and self.few is None and queries(self.check)

    def answer(self) -> CheckResult:
        """Return its answer. Any exception in it makes it "not judged", with a guard: a crashed check is never a pass.

        Errors of Spark or of the event tables are raised: no check can be judged then.
        """
        if self.crash is not None:
            return crashed(self.name, self.crash)
        try:
            return self._result()
        except _OWN_FAULT as error:
            return crashed(self.name, error)
        except (Py4JError, PySparkException, ChaoskError, ConnectionError, EOFError):
            raise
        except Exception as error:
            log.warning("check crashed", check=self.name, exc_info=True)
            return crashed(self.name, error)

    def _result(self) -> CheckResult:
        events, name, check = self.events, self.name, self.check
        if (guard := _clock_guard(events, name, check)) is not None:
            return CheckResult(name, f"not judged: {guard.what}", guards=(guard,))
        summaries, kept = self._rows()
        measures = tuple(check.measures(events, kept))
        if undeclared := sorted({measure.metric for measure in measures} - {*check.metrics}):
            raise ValueError(f"it measures {', '.join(undeclared)}, which its `metrics` does not name")
        found = tuple(_finding(name, check, s) for s in summaries if s.severity != "unproven")
        guards = tuple(_unproven(name, check, s) for s in summaries if s.severity == "unproven")
        telling = [finding for finding in found if finding.severity is not Severity.INFORMATION]
        return CheckResult(name, _state(bool(telling), guards, check.unjudged(events)), found, measures, guards)

    def _rows(self) -> tuple[tuple[Summary, ...], CheckRows]:
        """Return its rows, kept as evidence; none if its glance or its screens rule them out."""
        rows: DataFrame | FewRows | None = self.few
        if rows is None and self.suspicious:
            rows = self.check.violations(self.events)
        if rows is None and not queries(self.check):
            return (), CheckRows()
        if rows is None:
            write_none(self.events, self.name)
            return (), CheckRows()
        return keep(self.events, self.check, self.name, _proven(self.events, self.check, rows))


def queries(check: Check) -> bool:
    """Return True if the check asks Spark for rows."""
    return type(check).violations is not Check.violations


def _suspicious(events: Events, check: Check) -> bool:
    """Return False if the check's glance or its screens rule out that it has rows."""
    if events.glances and not check.glance(events.rows):
        return False
    return not check.screens or any(events.once(screened)[screen] for screen in check.screens)


def crashed(name: str, error: BaseException) -> CheckResult:
    """Return the answer of a check that crashed."""
    said = (str(error).strip().splitlines() or [""])[0][:300]
    what = f"the check {name} crashed, so its rule was not judged: {type(error).__name__}: {said}"
    return CheckResult(
        name, f"not judged: it crashed: {type(error).__name__}", guards=(Guard(guard="check_crashed", what=what),)
    )


def _proven(events: Events, check: Check, rows: DataFrame | FewRows) -> DataFrame | FewRows:
    """Mark rows as unproven if they may be due to known missing or surplus rows of the event tables."""
    why = _doubt(events.case, check)
    if why is None:
        return rows
    if not isinstance(rows, DataFrame):
        proving = (Severity.VIOLATION.value, Severity.ALLOWED.value)
        return [row | {"severity": "unproven", "reason": why} if row["severity"] in proving else row for row in rows]
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
    errors, hosts = events.rows.columns("host_clocks", "error", "host")
    pairs = zip(errors.tolist(), hosts.tolist(), strict=True)
    worst = max(((error, events.rows.word("host", host)) for error, host in pairs), default=None)
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
