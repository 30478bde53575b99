"""Verdict in one sentence for a person: ``summary`` of ``verdict.json``.

A report shows it below its headline, without the clauses that the headline has (``gist`` in
:mod:`chaosk.report.headline`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from chaosk.analysis.judge import Ruling
from chaosk.core.figures import bounds, comparison, figure
from chaosk.rundir.verdict import Account, Finding, Objective, Outcome, Severity

_FIRST = ("lost", "unseen", "commit_skip", "swallowed", "duplicate_in_log", "send_order")
"""Checks whose findings matter most to a reader, in this order; the others follow."""


_READERS = 3
"""Maximum number of readers listed one by one; for more, only their number and sum."""


def summary(ruling: Ruling, findings: Sequence[Finding], ledger: Sequence[Account]) -> str:
    """Return one sentence: the verdict, its reasons, and the number of judged records."""
    return f"{ruling.verdict.value.upper()}: {'; '.join(_clauses(ruling, findings, ledger))}."


def _clauses(ruling: Ruling, findings: Sequence[Finding], ledger: Sequence[Account]) -> Iterable[str]:
    findings = sorted(findings, key=lambda f: _FIRST.index(f.check) if f.check in _FIRST else len(_FIRST))
    broken = [finding for finding in findings if finding.severity is Severity.VIOLATION]
    violations = [f"{finding.title} ({finding.reason})" if finding.reason else finding.title for finding in broken]
    if violations:
        predicted = ", as predicted" if ruling.verdict is Outcome.PASS else ""
        yield f"{', '.join(violations)}{predicted}"
    if ruling.verdict is Outcome.INCONCLUSIVE or (ruling.guards and not violations):
        first, *more = ruling.guards
        yield first.what + (f" (and {len(more)} more reason{'s' if len(more) > 1 else ''})" if more else "")
    yield from (_missed(objective) for objective in ruling.objectives if objective.met is False and not objective.void)
    allowed = [f"{f.title} (allowed: {f.reason})" for f in findings if f.severity is Severity.ALLOWED]
    yield from allowed
    if ledger:
        yield ", ".join(_judged(ledger))


def _judged(ledger: Sequence[Account]) -> Iterable[str]:
    """Yield the ledger's sums over all topics."""
    log = [account for account in ledger if not account.reader]
    total = sum(account.owed for account in log)
    yield f"{total:,} acknowledged record{'' if total == 1 else 's'}"
    yield f"{sum(account.delivered for account in log):,} in the log at both isolation levels"
    readers = sorted({account.reader for account in ledger if account.reader})
    for names in [(name,) for name in readers] if len(readers) <= _READERS else [tuple(readers)]:
        yield from _given([account for account in ledger if account.reader in names], names)
    yield from (f"{count:,} lost" for count in (sum(account.violation for account in log),) if count)
    for word, sums in (("excused", _sums(ledger, "excused")), ("not judged", _sums(ledger, "not_judged"))):
        yield from (f"{count:,} {word} ({why})" for why, count in sorted(sums.items()))


def _given(mine: Sequence[Account], names: Sequence[str]) -> Iterable[str]:
    owed, delivered = sum(account.owed for account in mine), sum(account.delivered for account in mine)
    whom = names[0] if len(names) == 1 else f"{len(names)} readers"
    yield (
        f"{delivered:,} delivered to {whom}" if delivered == owed else f"{delivered:,} of {owed:,} delivered to {whom}"
    )
    if left := sum(account.uncommitted or 0 for account in mine):
        yield f"{left:,} delivered and uncommitted"


def _sums(ledger: Sequence[Account], answer: str) -> Counter[str]:
    """Return the number of records by reason of an answer, over the log's and the readers' accounts."""
    found: Counter[str] = Counter()
    for account in ledger:
        found.update(getattr(account, answer))
    return found


def _missed(objective: Objective) -> str:
    asked = bounds(objective.minimum, objective.maximum, objective.unit)
    return comparison(objective.metric, objective.subject, figure(objective.measured, objective.unit), asked)
