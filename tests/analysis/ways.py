"""Short ways to look at a verdict."""

from __future__ import annotations

from analysis.history import History, ns

from chaosk.rundir.verdict import Finding, Severity, Verdict


def told(verdict: Verdict, severity: str | None = None) -> dict[str, int]:
    """By check the count of its violations, by ``check (allowed)`` of what is allowed; of one severity if asked for."""
    if severity:
        return {each.check: each.count for each in verdict.findings if each.severity is Severity(severity)}
    words = {Severity.VIOLATION: "", Severity.ALLOWED: " (allowed)"}
    return {each.check + words[each.severity]: each.count for each in verdict.findings if each.severity in words}


def finding(verdict: Verdict, check: str) -> Finding:
    """The one finding of a check."""
    (found,) = [each for each in verdict.findings if each.check == check]
    return found


def guards(verdict: Verdict) -> set[str]:
    """Names of the guards that were not met."""
    return {guard.guard for guard in verdict.guards}


def measure(verdict: Verdict, metric: str, subject: str, window: str = "run") -> float | None:
    """One measured figure."""
    (found,) = [m for m in verdict.measures if (m.metric, m.subject, m.window) == (metric, subject, window)]
    return found.value


def without_calls(history: History, low: float, high: float) -> History:
    """The history without any poll or commit that was under way in a stretch of time."""
    for table in ("polls", "commits"):
        rows = history.rows[table]
        history.rows[table] = [row for row in rows if not (row["invoked"] < ns(high) and row["completed"] >= ns(low))]
    return history
