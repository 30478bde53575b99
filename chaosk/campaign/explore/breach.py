"""What a run showed to be wrong, by kinds: two runs with one of the same kind failed alike."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.rundir.verdict import Outcome, Severity, Verdict
from chaosk.spec.prediction import PREDICTED_BY

_ROOTS = {check: metric for metric, checks in reversed(PREDICTED_BY.items()) for check in checks}
"""By check the figure that counts what it finds: a log that was cut back is what loses records."""


def breaches(verdict: Verdict) -> tuple[str, ...]:
    """The kinds of all violations that nobody predicted and missed objectives, gravest first; none if it did not fail.

    A kind is the figure that counts it (``lost_records``), else the name of a check, so that findings of one root are
    of one kind, and a loss is a loss whether rules or an objective forbid it.
    """
    if verdict.verdict not in (Outcome.VIOLATION, Outcome.DEGRADED):
        return ()
    return tuple(dict.fromkeys([*_violations(verdict), *_missed(verdict)]))


def gravest(verdict: Verdict) -> tuple[str, ...]:
    """The kinds of its violations; of its missed objectives if it has none."""
    if verdict.verdict not in (Outcome.VIOLATION, Outcome.DEGRADED):
        return ()
    return tuple(dict.fromkeys(_violations(verdict))) or tuple(dict.fromkeys(_missed(verdict)))


def _violations(verdict: Verdict) -> Iterator[str]:
    broken = (one for one in verdict.findings if one.severity is Severity.VIOLATION and not one.predicted)
    return (_ROOTS.get(one.check, one.check) for one in broken)


def _missed(verdict: Verdict) -> Iterator[str]:
    return (one.metric for one in verdict.objectives if one.met is False)
