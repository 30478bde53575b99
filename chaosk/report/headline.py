"""The headline: what stands, in one line that never lets an allowed loss pass unmentioned."""

from __future__ import annotations

from chaosk.figures import bounds, comparison, figure
from chaosk.report.words import SIGNS
from chaosk.verdict import Finding, Outcome, Severity, Verdict

_COUNTED = {
    "lost": "lost_records",
    "unseen": "unseen_records",
    "duplicate_in_log": "duplicate_records",
    "send_order": "reordered_records",
    "redelivery": "redelivered_records",
    "commit_skip": "skipped_records",
    "swallowed": "swallowed_records",
}
"""By check the metric that counts its rows, which a scenario can predict."""


def sign(verdict: Verdict) -> str:
    """The shape that goes with the outcome."""
    return SIGNS[verdict.verdict]


def headline(verdict: Verdict) -> str:
    """Like ``PASS — 6,863 records lost, allowed (acks is not all) and predicted``: first what the verdict rests on."""
    first, second = _findings(verdict), _missed(verdict)
    parts = [*_guards(verdict), *first, *second]
    if verdict.verdict is not Outcome.INCONCLUSIVE:
        parts = [*second, *first] if verdict.verdict is Outcome.DEGRADED else [*first, *second]
        parts += _guards(verdict)
    if not verdict.healed:
        parts.insert(0, "NOT HEALED: the cluster is not as it was")
    said = "; ".join(parts) or _nothing(verdict)
    return f"{verdict.verdict.upper()} — {said}"


def _nothing(verdict: Verdict) -> str:
    judged = sum(not state.startswith("not judged") for state in verdict.checks.values())
    open_ones = len(verdict.checks) - judged
    said = f"nothing wrong in {judged} check{'s' * (judged != 1)}"
    said += f" ({open_ones} not judged)" if open_ones else ""
    met = sum(objective.met is True for objective in verdict.objectives)
    return f"{said}, {met} of {len(verdict.objectives)} objectives met" if verdict.objectives else said


def _findings(verdict: Verdict) -> list[str]:
    """Violations first, then what was predicted, then what is allowed besides."""
    told = [finding for finding in verdict.findings if finding.severity is not Severity.INFORMATION]
    told.sort(key=lambda finding: (finding.severity is not Severity.VIOLATION, not is_predicted(finding, verdict)))
    return [_finding(finding, verdict) for finding in told]


def _finding(finding: Finding, verdict: Verdict) -> str:
    predicted = is_predicted(finding, verdict)
    if finding.severity is not Severity.ALLOWED:
        return f"{finding.title}, as predicted" if predicted else finding.title
    because = f" ({finding.reason.partition(':')[0]})" if finding.reason else ""
    return f"{finding.title}, allowed{because}{' and predicted' if predicted else ''}"


def is_predicted(finding: Finding, verdict: Verdict) -> bool:
    """Whether the scenario said that this would be found: by a count of it, or by the outcome."""
    if finding.predicted is not None:
        return finding.predicted
    metric = _COUNTED.get(finding.check)
    counted = any(o.prediction and o.met and o.metric == metric for o in verdict.objectives)
    by_outcome = finding.severity is Severity.VIOLATION and verdict.expected is Outcome.VIOLATION
    return counted or (by_outcome and verdict.verdict is Outcome.PASS)


def _missed(verdict: Verdict) -> list[str]:
    """The first missed objective with its figures, and how many more."""
    missed = [o for o in verdict.objectives if o.met is False and not o.prediction and not o.void]
    if not missed:
        return []
    first, rest = missed[0], len(missed) - 1
    asked, measured = bounds(first.minimum, first.maximum, first.unit), figure(first.measured, first.unit)
    more = f" (and {rest} more missed)" if rest else ""
    return [f"{comparison(first.metric, first.subject, measured, asked)}{more}"]


def _guards(verdict: Verdict) -> list[str]:
    if not verdict.guards:
        return []
    first, rest = verdict.guards[0], len(verdict.guards) - 1
    return [f"{first.guard.replace('_', ' ')}: {first.what}" + (f" (and {rest} more)" if rest else "")]


def gist(verdict: Verdict) -> str:
    """What the analysis says in its own sentence and the headline does not; empty if that is nothing."""
    text = verdict.summary.removeprefix(f"{verdict.verdict.upper()}: ").removesuffix(".")
    told = [guard.what for guard in verdict.guards]
    for finding in verdict.findings:
        if finding.severity is not Severity.INFORMATION:
            told += [f"{finding.title} (allowed: {finding.reason})", finding.title]
    for known in sorted(told, key=len, reverse=True):  # they may hold semicolons themselves
        text = text.replace(known, "\0")
    clauses = [clause for clause in text.split("; ") if clause and "\0" not in clause]
    said = "; ".join(clauses)
    return f"{said[:1].upper()}{said[1:]}." if said else ""
