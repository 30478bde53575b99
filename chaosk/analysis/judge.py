"""Verdict from findings, guards and measures: pure; the worst outcome wins, without averaging.

The order is violation > inconclusive > degraded > pass. A scenario may predict findings. Those that match a prediction
are removed, and the worst of the rest is the verdict. No prediction removes a guard, so insufficient evidence never
passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chaosk.core import figures
from chaosk.rundir.verdict import Finding, Guard, Measure, Objective, Outcome, Severity
from chaosk.spec.bounds import Bound
from chaosk.spec.expect import Expect
from chaosk.spec.metrics import METRICS
from chaosk.spec.prediction import PREDICTED_BY, Losses, Prediction, Windows, predictions

_SURPRISE = "expected_outcome"
_WHY = "the faults did not do what they were meant to, or their timing was off"
_NOWHEN: Windows = {}
SKIPPED = "step_skipped"
"""Name of the guard for a step that an operator skipped. No scenario predicts that, so no such run passes."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """Result of the rules for a run."""

    found: Outcome
    verdict: Outcome
    objectives: tuple[Objective, ...]
    guards: tuple[Guard, ...]
    """The given ones, and those that objectives and predictions add."""
    findings: tuple[Finding, ...] = ()
    """The given ones, each marked as predicted or not."""


def rule(
    expect: Expect,
    findings: Sequence[Finding],
    guards: Sequence[Guard],
    measures: Sequence[Measure],
    windows: Windows = _NOWHEN,
    lost: Losses | None = None,
) -> Ruling:
    """Judge a run against the scenario's expectations.

    ``windows`` has the times of the windows in predictions, ``lost`` the lowest lost offset by partition; None
    for unknown.
    """
    objectives = tuple(judge_bounds(expect, measures))
    known = (*guards, *(_unmeasured(o) for o in objectives if o.met is None))
    known += tuple(_void(o) for o in objectives if o.void and o.met is False)
    found = worst(_outcomes(findings, known, objectives))
    holding = [each for each in predictions(expect) if not _exceeded(each, measures)]
    told = tuple(_told(finding, expect, holding, windows, lost) for finding in findings)
    surprises = tuple(_surprises(expect, found, findings, objectives, windows))
    left = [finding for finding in told if not finding.predicted]
    missed = () if _names_the_miss(expect, objectives) else objectives
    verdict = worst(_outcomes(left, (*known, *surprises), missed))
    return Ruling(found, verdict, objectives, (*known, *surprises), told)


def _told(
    finding: Finding, expect: Expect, holding: Sequence[Prediction], windows: Windows, lost: Losses | None
) -> Finding:
    """Return the finding marked as predicted or not; a violation can only be predicted if the verdict is."""
    foreseen = expect.verdict is Outcome.VIOLATION or finding.severity is not Severity.VIOLATION
    return finding.model_copy(update={"predicted": foreseen and is_predicted(holding, finding, windows, lost)})


def is_predicted(
    predicted: Sequence[Prediction], finding: Finding, windows: Windows = _NOWHEN, lost: Losses | None = None
) -> bool:
    """Return True if predictions cover all rows of a finding.

    The analysis reports predicted and other rows as separate findings, so the rows shown represent all. A finding
    without rows is covered only by a prediction that names neither subject nor window.
    """
    about = [each for each in predicted if each.is_about(finding.check, finding.rule)]
    if not finding.evidence:
        return any(each.anywhere for each in about)
    return all(any(each.covers(finding.check, row, windows, lost) for each in about) for row in finding.evidence)


def _exceeded(prediction: Prediction, measures: Sequence[Measure]) -> bool:
    """Return True if more was found than the prediction's maximum: then none of it is as predicted."""
    bound = prediction.bound
    if prediction.metric is None or bound is None or bound.max is None:
        return False
    value, _ = overall(prediction.metric, prediction.subject, bound.during, measures, bound.of)
    return value is not None and value > bound.max


def _names_the_miss(expect: Expect, objectives: Sequence[Objective]) -> bool:
    """Return True if a predicted degradation implies the objective to be missed, because it is the only one."""
    return expect.verdict is Outcome.DEGRADED and len(objectives) == 1


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of some outcomes; pass if there are none."""
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
    """Return True if less of a predicted anomaly was found than predicted: the run did not show what it had to."""
    low, value = objective.minimum, objective.measured
    return objective.prediction and low is not None and value is not None and value < low


def _surprises(
    expect: Expect, found: Outcome, findings: Sequence[Finding], objectives: Sequence[Objective], windows: Windows
) -> Iterable[Guard]:
    """Yield guards for predictions that did not come true, and for those that no run can make true."""
    for objective in objectives:
        if objective.met is False and _too_few(objective) and not objective.void:
            yield Guard(
                guard=_SURPRISE,
                what=f"the scenario predicts {_name(objective)} of {_bounds(objective)}, and "
                f"{_measured(objective)} were found: {_WHY}",
            )
    excused = expect.verdict is Outcome.PASS
    telling = (Severity.VIOLATION, Severity.ALLOWED) if excused else (Severity.VIOLATION,)
    broken = [finding for finding in findings if finding.severity in telling]
    for each in predictions(expect):
        if each.rule is not None and each.must and not any(_shows(each, finding, windows) for finding in broken):
            whose = f" of {_together(sorted(each.subjects))}" if each.subjects else ""
            how = "an allowed finding of" if excused else "a violation of"
            yield Guard(
                guard=_SURPRISE, what=f"the scenario predicts {how} {each.rule}{whose}, and there was none: {_WHY}"
            )
    if expect.verdict is Outcome.INCONCLUSIVE:
        what = "the scenario asks for missing evidence, which no run can pass by; say what is to be found instead"
        yield Guard(guard=_SURPRISE, what=what)
    elif expect.verdict is not None and _rank(found) > _rank(expect.verdict):
        yield Guard(
            guard=_SURPRISE,
            what=f"the scenario predicts the verdict {expect.verdict}, and the rules found {found}: {_WHY}",
        )


def _shows(prediction: Prediction, finding: Finding, windows: Windows) -> bool:
    if not prediction.is_about(finding.check, finding.rule):
        return False
    return prediction.anywhere or any(prediction.covers(finding.check, row, windows) for row in finding.evidence)


def _rank(outcome: Outcome) -> int:
    return list(Outcome).index(outcome)


def judge_bounds(expect: Expect, measures: Sequence[Measure]) -> Iterable[Objective]:
    """Yield every bound of the scenario with its measured value, in the order of metric, subject and document."""
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
    """Return the figure of a subject, or (without one) of all of them together, and True if it is censored.

    If ``of`` names subjects, only those count, and each of them must have a figure.
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
    """Return True if a figure meets a bound; None if unknown, as may be for a censored figure."""
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
        what = f"{about}: there was nothing to measure in the window {objective.window}, or chaosk stood still in it"
    else:
        endless = (
            "and had not ended when the run did (let the run settle for longer), a send failed, or a process left no "
            "end marker"
        )
        more = "and possibly more: a process left no end marker, or chaosk's machine stood still"
        why = endless if objective.unit == "s" else more
        what = f"{about}: it is at least {_measured(objective)} {why}"
    return Guard(guard="objective_unmeasured", what=what)


def _void(objective: Objective) -> Guard:
    where = "" if objective.window == "run" else f" in the window {objective.window}"
    what = (
        f"the run shows nothing unless {_name(objective)}{where} is {_bounds(objective)}: it was {_measured(objective)}"
    )
    return Guard(guard="run_void", what=what)


def _together(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def _name(objective: Objective) -> str:
    return f"{objective.metric} of {objective.subject}" if objective.subject else objective.metric


def _measured(objective: Objective) -> str:
    return figures.figure(objective.measured, objective.unit)


def _bounds(objective: Objective) -> str:
    return figures.bounds(objective.minimum, objective.maximum, objective.unit)
