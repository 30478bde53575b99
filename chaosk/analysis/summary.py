"""The verdict in one sentence for a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chaosk.judge import Ruling, overall
from chaosk.verdict import Finding, Measure, Objective, Outcome, Severity

_FIRST = ("lost", "unseen", "commit_skip", "swallowed", "duplicate_in_log", "send_order")
"""Checks whose findings matter most to a reader, in this order; the others follow."""


def summary(ruling: Ruling, findings: Sequence[Finding], measures: Sequence[Measure]) -> str:
    """One sentence: the verdict, why, and how much it rests on."""
    return f"{ruling.verdict.value.upper()}: {'; '.join(_clauses(ruling, findings, measures))}."


def _clauses(ruling: Ruling, findings: Sequence[Finding], measures: Sequence[Measure]) -> Iterable[str]:
    findings = sorted(findings, key=lambda f: _FIRST.index(f.check) if f.check in _FIRST else len(_FIRST))
    violations = [finding.title for finding in findings if finding.severity is Severity.VIOLATION]
    if violations:
        predicted = ", as predicted" if ruling.verdict is Outcome.PASS else ""
        yield f"{', '.join(violations)}{predicted}"
    if ruling.verdict is Outcome.INCONCLUSIVE or (ruling.guards and not violations):
        first, *more = ruling.guards
        yield first.what + (f" (and {len(more)} more reason{'s' if len(more) > 1 else ''})" if more else "")
    yield from (_missed(objective) for objective in ruling.objectives if objective.met is False and not objective.void)
    allowed = [f"{f.title} (allowed: {f.reason})" for f in findings if f.severity is Severity.ALLOWED]
    yield from allowed
    acknowledged, _ = overall("acknowledged_records", "", "run", measures)
    if not violations and not allowed and acknowledged is not None:
        yield f"of {acknowledged:,.0f} acknowledged records none was lost, repeated or out of order"


def _missed(objective: Objective) -> str:
    subject = f" of {objective.subject}" if objective.subject else ""
    low, high, value = objective.minimum, objective.maximum, objective.measured or 0.0
    bound = f"at most {high:g}" if high is not None and value > high else f"at least {low or 0.0:g}"
    return f"{objective.metric}{subject} was {value:g} {objective.unit}, to be {bound}"
