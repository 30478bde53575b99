"""The headline: the verdict in one line, which always mentions an allowed loss.

The sentence below it, with the sums of records, is made by :mod:`chaosk.analysis.summary`.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosk.core.figures import bounds, comparison, counted, figure
from chaosk.report.grouped import Group, grouped
from chaosk.report.reasons import reason_told
from chaosk.report.words import SIGNS
from chaosk.rundir.verdict import Finding, Outcome, Severity, Verdict

_COUNTED = {
    "lost": "lost_records",
    "unseen": "unseen_records",
    "duplicate_in_log": "duplicate_records",
    "send_order": "reordered_records",
    "redelivery": "redelivered_records",
    "commit_skip": "skipped_records",
    "swallowed": "swallowed_records",
}
"""Metrics that count a check's rows, which a scenario can predict."""


LOSS = "loss"
"""The tone of a run that passes although it lost records or broke another rule, because that was predicted or
allowed."""
_TONE_SIGN = "!"


def tone(verdict: Verdict) -> str:
    """Return the outcome, or ``loss``: a pass with predicted or allowed damage does not get the colour of a pass."""
    return LOSS if verdict.verdict is Outcome.PASS and _wrong(verdict) else str(verdict.verdict)


def sign(verdict: Verdict) -> str:
    """Return the symbol of the tone."""
    return _TONE_SIGN if tone(verdict) == LOSS else SIGNS[verdict.verdict]


def headline(verdict: Verdict) -> str:
    """Return the headline, like ``AS PREDICTED: 6,863 records lost under acks=1``: the reason of the verdict first."""
    groups = _wrong(verdict)
    first, second = [_finding(group, verdict) for group in groups], _missed(verdict)
    parts = [*_guards(verdict), *first, *second]
    if verdict.verdict is not Outcome.INCONCLUSIVE:
        parts = [*second, *first] if verdict.verdict is Outcome.DEGRADED else [*first, *second]
        parts += _guards(verdict)
    if not verdict.healed:
        parts.insert(0, "NOT HEALED: the cluster is not as it was")
    said = "; ".join(parts) or _nothing(verdict)
    return f"{_word(verdict, groups)}{said}"


def _word(verdict: Verdict, groups: Sequence[Group]) -> str:
    if tone(verdict) != LOSS or not verdict.healed:
        return f"{verdict.verdict.upper()} — "
    return "AS PREDICTED: " if _predicted(groups[0], verdict) else "ALLOWED: "


def _nothing(verdict: Verdict) -> str:
    judged = sum(not state.startswith("not judged") for state in verdict.checks.values())
    open_ones = len(verdict.checks) - judged
    said = f"nothing wrong in {counted(judged, 'check')}"
    said += f" ({open_ones} not judged)" if open_ones else ""
    met = sum(objective.met is True for objective in verdict.objectives)
    return f"{said}, {met} of {len(verdict.objectives)} objectives met" if verdict.objectives else said


def _wrong(verdict: Verdict) -> tuple[Group, ...]:
    """Return the groups of findings: violations, then predicted, then other allowed ones."""
    groups = grouped(finding for finding in verdict.findings if finding.severity is not Severity.INFORMATION)
    return tuple(sorted(groups, key=lambda group: (_rank(group), not _predicted(group, verdict))))


def _rank(group: Group) -> bool:
    return group[0].severity is not Severity.VIOLATION


def _predicted(group: Group, verdict: Verdict) -> bool:
    return any(is_predicted(finding, verdict) for finding in group)


def _finding(group: Group, verdict: Verdict) -> str:
    finding, predicted = group[0], _predicted(group, verdict)
    said = f"{finding.title}{_under(group)}"
    if tone(verdict) == LOSS:  # the first word of the headline already applies to the first group
        first = _predicted(_wrong(verdict)[0], verdict)
        return said if predicted == first else f"{said}, {'as predicted' if predicted else 'allowed'}"
    if finding.severity is not Severity.ALLOWED:
        return f"{said}, as predicted" if predicted else said
    return f"{said}, allowed{' and predicted' if predicted else ''}"


def _under(group: Group) -> str:
    """Return the reason why a group is allowed, shortened: the common acks of its rows, or the start of its reason."""
    acks = {row["acks"] for finding in group for row in finding.evidence if "acks" in row}
    if group[0].severity is Severity.ALLOWED and len(acks) == 1 and (one := acks.pop()) in (0, 1):
        return f" under acks={one}"
    return f" ({group[0].reason.partition(':')[0]})" if group[0].reason else ""


def is_predicted(finding: Finding, verdict: Verdict) -> bool:
    """Return True if the scenario predicted the finding, by a count or by the outcome."""
    if finding.predicted is not None:
        return finding.predicted
    metric = _COUNTED.get(finding.check)
    counted = any(o.prediction and o.met and o.metric == metric for o in verdict.objectives)
    by_outcome = finding.severity is Severity.VIOLATION and verdict.expected is Outcome.VIOLATION
    return counted or (by_outcome and verdict.verdict is Outcome.PASS)


def _missed(verdict: Verdict) -> list[str]:
    """Return the first missed objective with its figures, and the number of further ones."""
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
    """Return the clauses of the analysis' summary that the headline does not contain; may be empty."""
    text = verdict.summary.removeprefix(f"{verdict.verdict.upper()}: ").removesuffix(".")
    told = [guard.what for guard in verdict.guards]
    for finding in verdict.findings:
        if finding.severity is not Severity.INFORMATION:
            told += [f"{finding.title} ({reason_told(finding)})", finding.title]
    for known in sorted(told, key=len, reverse=True):  # they may contain semicolons
        text = text.replace(known, "\0")
    clauses = [clause for clause in text.split("; ") if clause and "\0" not in clause]
    said = "; ".join(clauses)
    return f"{said[:1].upper()}{said[1:]}." if said else ""
