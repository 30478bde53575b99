"""``junit.xml``: the verdict for a CI server, with a test case for every check, guard and objective, and for healing.

A violation or a missed objective is a failure, a guard is an error, and a check without a judgement is skipped. A
predicted and found violation passes. The file is therefore red exactly if the verdict is not a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from chaosk.core.figures import bounds, figure, metric_name
from chaosk.core.printable import printable
from chaosk.report.headline import headline, is_predicted
from chaosk.report.measures import window_name
from chaosk.report.reasons import reason_told
from chaosk.report.settings import Pairs
from chaosk.rundir.verdict import Finding, Objective, Outcome, Severity, Verdict

MOST_ROWS = 20

Result = Skipped | Failure | Error


def junit(verdict: Verdict, identity: Pairs) -> str:
    """Render the document; deterministic, without the current time."""
    told = (("hypothesis", verdict.hypothesis), ("verdict", headline(verdict)), *identity)
    return document(verdict.scenario, told, _cases(verdict))


def document(name: str, properties: Iterable[tuple[str, str]], cases: Iterable[TestCase]) -> str:
    """Return a document with one suite."""
    suite = TestSuite(printable(name))
    for key, value in properties:
        suite.add_property(key, printable(value))
    for each in cases:
        suite.add_testcase(each)
    suite.update_statistics()  # type: ignore[no-untyped-call]
    xml = JUnitXml("chaosk")
    xml.add_testsuite(suite)
    xml.update_statistics()  # type: ignore[no-untyped-call]
    text: bytes = xml.tostring()  # type: ignore[no-untyped-call]
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text.decode()}\n'


def _cases(verdict: Verdict) -> Iterator[TestCase]:
    for check, state in sorted(verdict.checks.items()):
        yield _check(check, state, verdict)
    for finding in verdict.findings:
        if finding.check not in verdict.checks:
            yield _check(finding.check, "found", verdict)
    for objective in verdict.objectives:
        yield _objective(objective)
    yield case("run", "everything that was injected was undone", _unhealed(verdict))
    guards = [Error(printable(guard.what), guard.guard) for guard in verdict.guards]
    yield case("run", "the evidence carries", guards)
    yield case("run", "the verdict", _verdict(verdict), seconds=verdict.duration)


def case(kind: str, name: str, results: Sequence[Result], told: str = "", seconds: float = 0.0) -> TestCase:
    """Return one test case of the class ``chaosk.KIND``."""
    made = TestCase(printable(name), f"chaosk.{kind}", round(seconds, 3))
    made.result = list(results)
    if told:
        made.system_out = printable_lines(told)
    return made


def _check(check: str, state: str, verdict: Verdict) -> TestCase:
    findings = [finding for finding in verdict.findings if finding.check == check]
    results: list[Result] = [
        Failure(printable(finding.title), finding.rule)
        for finding in findings
        if finding.severity is Severity.VIOLATION and not is_predicted(finding, verdict)
    ]
    if state.startswith("not judged") and not results:
        results = [Skipped(printable(state))]
    return case("check", check, results, "\n".join(_evidence(finding) for finding in findings))


def _evidence(finding: Finding) -> str:
    why = f", {reason}" if (reason := reason_told(finding)) else ""
    rows = (", ".join(f"{key}={value}" for key, value in row.items()) for row in finding.evidence[:MOST_ROWS])
    return "\n".join([f"{finding.severity} {finding.rule}: {finding.title}{why}", *rows])


def _objective(o: Objective) -> TestCase:
    subject = f" of {o.subject}" if o.subject else ""
    asked, measured = bounds(o.minimum, o.maximum, o.unit), figure(o.measured, o.unit)
    said = f"{metric_name(o.metric)}{subject}, {window_name(o.window)}: {measured}, asked for {asked}"
    results: list[Result] = []
    if o.met is None:
        results = [Skipped(printable(said))]
    elif not o.met:
        kind = "prediction" if o.prediction else "void" if o.void else None
        results = [Error(printable(said), kind) if kind else Failure(printable(said), "objective")]
    return case("objective", f"{metric_name(o.metric)}{subject}, {window_name(o.window)}: {asked}", results, said)


def _unhealed(verdict: Verdict) -> list[Result]:
    if verdict.healed:
        return []
    left = [f"{fault.name}: {fault.why or 'not undone'}" for fault in verdict.faults if not fault.undone]
    return [Error(printable("; ".join(left) or "the cluster is not as it was"), "not_healed")]


def _verdict(verdict: Verdict) -> list[Result]:
    said = printable(headline(verdict))
    if verdict.verdict is Outcome.PASS:
        return []
    return (
        [Error(said, verdict.verdict)] if verdict.verdict is Outcome.INCONCLUSIVE else [Failure(said, verdict.verdict)]
    )


def printable_lines(text: str) -> str:
    """Return the text, line by line, without characters that XML cannot contain."""
    return "\n".join(printable(line) for line in text.split("\n"))
