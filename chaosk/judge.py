"""From findings, guards and measures to the verdict: pure, worst wins, nothing averaged.

violation > inconclusive > degraded > pass. A scenario may predict what will be found; it passes only if exactly that
was found, and never on evidence that does not carry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chaosk.bounds import Bound
from chaosk.expect import Expect
from chaosk.metrics import METRICS
from chaosk.verdict import Finding, Guard, Measure, Objective, Outcome, Severity

_LOSS = (
    "lost", "lost_write", "inconsistent_offset", "truncation_after_ack", "end_offset_regression", "stale_append",
    "leader_epoch_regression",
)  # fmt: skip
PREDICTED_BY = {
    "lost_records": _LOSS,
    "lost_share": _LOSS,
    "duplicate_records": ("duplicate_in_log",),
    "duplicate_share": ("duplicate_in_log",),
    "reordered_records": ("send_order",),
    "redelivered_records": ("redelivery", "commit_regression", "reset_jump"),
    "redelivered_share": ("redelivery", "commit_regression", "reset_jump"),
    "unseen_records": ("unseen", "poll_skip", "commit_skip"),
    "skipped_records": ("commit_skip", "unseen", "poll_skip"),
    "swallowed_records": ("swallowed",),
    "failed_records": (),
    "uncertain_records": (),
}  # fmt: skip
"""Metrics that measure what went wrong, and the checks whose findings a bound from below on them predicts.

A log that was cut back ends too early and gives its offsets again, who is not given a record was skipped, and who is
given records again although they were committed began at an offset that had gone back: those findings have the same
root as the predicted one.
"""


_SURPRISE = "expected_outcome"
SKIPPED = "step_skipped"
"""Name of the guard for a step that somebody skipped: no scenario predicts that, so none passes on it."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules make of a run."""

    found: Outcome
    verdict: Outcome
    objectives: tuple[Objective, ...]
    guards: tuple[Guard, ...]
    """Those given, and those that objectives and predictions add."""


def rule(expect: Expect, findings: Sequence[Finding], guards: Sequence[Guard], measures: Sequence[Measure]) -> Ruling:
    """Judge a run against what was expected of it."""
    objectives = tuple(judge_bounds(expect, measures))
    known = (*guards, *(_unmeasured(o) for o in objectives if o.met is None))
    known += tuple(_void(o) for o in objectives if o.void and o.met is False)
    found = worst(_outcomes(findings, known, objectives))
    surprises = tuple(_surprises(expect, found, objectives))
    verdict = _verdict(expect, found, findings, [*known, *surprises], objectives)
    return Ruling(found, verdict, objectives, (*known, *surprises))


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of some outcomes; pass if there are none."""
    order = list(Outcome)
    return min(outcomes, key=order.index, default=Outcome.PASS)


def _outcomes(
    findings: Sequence[Finding], guards: Sequence[Guard], objectives: Sequence[Objective]
) -> Iterable[Outcome]:
    if any(finding.severity is Severity.VIOLATION for finding in findings):
        yield Outcome.VIOLATION
    if guards:
        yield Outcome.INCONCLUSIVE
    if any(objective.met is False and not objective.void and not _too_few(objective) for objective in objectives):
        yield Outcome.DEGRADED


def _too_few(objective: Objective) -> bool:
    """Whether less of a predicted anomaly was found than predicted: then the run did not show what it was to show."""
    low, value = objective.minimum, objective.measured
    return objective.prediction and low is not None and value is not None and value < low


def _surprises(expect: Expect, found: Outcome, objectives: Sequence[Objective]) -> Iterable[Guard]:
    """Guards for predictions that did not come true."""
    for objective in objectives:
        if objective.met is False and _too_few(objective) and not objective.void:
            yield Guard(
                guard=_SURPRISE,
                what=f"the scenario predicts {_bounds(objective)} {_name(objective)}, and {objective.measured:g} were "
                "found: the faults did not do what they were meant to, or their timing was off",
            )
    if expect.verdict is not None and _rank(found) > _rank(expect.verdict):
        yield Guard(
            guard=_SURPRISE,
            what=f"the scenario predicts the verdict {expect.verdict}, and the rules found {found}: "
            "the faults did not do what they were meant to, or their timing was off",
        )


def _rank(outcome: Outcome) -> int:
    return list(Outcome).index(outcome)


def _verdict(
    expect: Expect,
    found: Outcome,
    findings: Sequence[Finding],
    guards: Sequence[Guard],
    objectives: Sequence[Objective],
) -> Outcome:
    """What stands: what was found, or pass where that and nothing else was predicted.

    A predicted violation accounts for itself alone: guards and missed objectives still count.
    """
    surprised = any(guard.guard in (_SURPRISE, SKIPPED) for guard in guards)
    if expect.verdict is Outcome.VIOLATION and found is Outcome.VIOLATION:
        unpredicted = [finding for finding in findings if not predicted(expect, finding)]
        return worst(_outcomes(unpredicted, guards, objectives))
    if expect.verdict is found:
        return Outcome.INCONCLUSIVE if surprised else Outcome.PASS
    return worst([found, Outcome.INCONCLUSIVE]) if surprised else found


def predicted(expect: Expect, finding: Finding) -> bool:
    """Whether a scenario that predicts a violation predicts this finding.

    Bounds from below on counts of anomalies name what is predicted; without any, every violation is.
    """
    named = [metric for metric in expect.bounds if metric in PREDICTED_BY and _wants_some(expect, metric)]
    return not named or any(finding.check in PREDICTED_BY[metric] for metric in named)


def _wants_some(expect: Expect, metric: str) -> bool:
    return any((bound.min or 0) > 0 for bounds in expect.bounds[metric].values() for bound in bounds)


def judge_bounds(expect: Expect, measures: Sequence[Measure]) -> Iterable[Objective]:
    """Every bound of the scenario beside what was measured, in the order of metric, subject and writing."""
    for metric, subjects in sorted(expect.objectives.items()):
        for subject, bounds in sorted(subjects.items()):
            for bound in bounds:
                yield _judge_bound(metric, subject, bound, measures)


def _judge_bound(metric: str, subject: str, bound: Bound, measures: Sequence[Measure]) -> Objective:
    value, censored = overall(metric, subject, bound.during, measures, bound.of)
    return Objective(
        metric=metric,
        subject=subject or _together(bound.of),
        window=bound.during,
        minimum=bound.min,
        maximum=bound.max,
        measured=value,
        unit=METRICS[metric].unit,
        met=_met(bound, value, censored=censored),
        prediction=metric in PREDICTED_BY and (bound.min or 0) > 0,
        void=bound.or_ == "inconclusive",
    )


def overall(
    metric: str, subject: str, window: str, measures: Sequence[Measure], of: Sequence[str] = ()
) -> tuple[float | None, bool]:
    """The figure of a subject, or (without one) of all of them together, and whether it is censored.

    Of those named in ``of`` alone, if any are; then each of them must have one.
    """
    wanted = of or ((subject,) if subject else ())
    mine = [m for m in measures if m.metric == metric and m.window == window and (not wanted or m.subject in wanted)]
    known = [(m.value, m.censored) for m in mine if m.value is not None]
    if not known or (of and len(known) < len(of)):
        return None, False
    values = [value for value, _ in known]
    how = METRICS[metric].overall
    figure = sum(values) if how == "sum" else max(values) if how == "max" else min(values)
    return figure, any(censored for _, censored in known)


def _met(bound: Bound, value: float | None, *, censored: bool) -> bool | None:
    """Whether a figure keeps a bound; None if that cannot be told, as for one that is at least so much."""
    if value is None:
        return None
    if bound.max is not None and value > bound.max:
        return False
    if bound.min is not None and value < bound.min:
        return None if censored else False
    return None if censored and bound.max is not None else True


def _unmeasured(objective: Objective) -> Guard:
    about = f"the objective on {_name(objective)} cannot be judged"
    if objective.measured is None:
        what = f"{about}: there was nothing to measure in the window {objective.window}"
    else:
        endless = "and had not ended when the run did (let the run settle for longer), or a process left no end marker"
        more = "and how much more nobody knows: a process left no end marker, or chaosk's machine stood still"
        why = endless if objective.unit == "s" else more
        what = f"{about}: it is at least {objective.measured:g} {objective.unit} {why}"
    return Guard(guard="objective_unmeasured", what=what)


def _void(objective: Objective) -> Guard:
    where = "" if objective.window == "run" else f" in the window {objective.window}"
    what = (
        f"the run shows nothing unless {_name(objective)}{where} is {_bounds(objective)} {objective.unit}: "
        f"it was {objective.measured:g}"
    )
    return Guard(guard="run_void", what=what)


def _together(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def _name(objective: Objective) -> str:
    return f"{objective.metric} of {objective.subject}" if objective.subject else objective.metric


def _bounds(objective: Objective) -> str:
    low, high = objective.minimum, objective.maximum
    if low is not None and low == high:
        return f"exactly {low:g}"
    return " and ".join(f"{word} {end:g}" for word, end in (("at least", low), ("at most", high)) if end is not None)
