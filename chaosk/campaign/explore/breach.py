"""Kinds of the violations of a run: two runs with a violation of the same kind failed alike."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.rundir.verdict import Outcome, Severity, Verdict
from chaosk.spec.prediction import PREDICTED_BY

_ROOTS = {check: metric for metric, checks in reversed(PREDICTED_BY.items()) for check in checks}
"""The metric that counts a check's findings: a truncated log, for example, loses records."""


def breaches(verdict: Verdict) -> tuple[str, ...]:
    """Return the kinds of all unpredicted violations and missed objectives, gravest first; none if it did not fail.

    A kind is the metric that counts it (``lost_records``), else the name of a check. So findings of one root are of one
    kind, and a loss is the same kind under a rule and under an objective.
    """
    if verdict.verdict not in (Outcome.VIOLATION, Outcome.DEGRADED):
        return ()
    return tuple(dict.fromkeys([*_violations(verdict), *_missed(verdict)]))


def gravest(verdict: Verdict) -> tuple[str, ...]:
    """Return the kinds of its violations; those of its missed objectives if it has none."""
    if verdict.verdict not in (Outcome.VIOLATION, Outcome.DEGRADED):
        return ()
    return tuple(dict.fromkeys(_violations(verdict))) or tuple(dict.fromkeys(_missed(verdict)))


def _violations(verdict: Verdict) -> Iterator[str]:
    broken = (one for one in verdict.findings if one.severity is Severity.VIOLATION and not one.predicted)
    return (_ROOTS.get(one.check, one.check) for one in broken)


def _missed(verdict: Verdict) -> Iterator[str]:
    return (one.metric for one in verdict.objectives if one.met is False)
