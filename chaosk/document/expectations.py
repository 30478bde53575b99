"""Mistakes in ``expect``: figures that no subject has, bounds that every run keeps, predictions that name nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chaosk.core.suggest import instead
from chaosk.document.draft import Draft
from chaosk.document.figures import NOUNS, misfit
from chaosk.document.nodes import Path, Sequence, descend
from chaosk.document.parse import Found
from chaosk.rundir.verdict import Outcome
from chaosk.spec.bounds import Bound
from chaosk.spec.expected_errors import KNOWN
from chaosk.spec.metrics import METRICS, WINDOWS, Metric
from chaosk.spec.prediction import NAMING, RULES

_LEAST = {"s": "1s", "records/s": "1/s", "ratio": "99 %"}


def expectations(draft: Draft) -> Iterator[Found]:
    """Yield all mistakes in the expectations, as far as these can be read."""
    for name, bounds in draft.expect.bounds.items():
        metric = METRICS[name]
        for subject, several in bounds.items():
            path: Path = ("expect", name, *((subject,) if subject else ()))
            wrong = list(_subjects(draft, path, metric, subject, several))
            yield from wrong or _figures(draft, path, metric, subject, several)
            yield from _windows(draft, path, several)
            yield from _ends(draft, path, metric, several)
    yield from _errors(draft)
    yield from _rules(draft)
    yield from _verdict(draft)


def known(draft: Draft, noun: str) -> Iterable[str]:
    """Return the names of all subjects of a kind."""
    return {"probe": draft.probes, "topic": draft.topics, "fault": draft.names, "group": draft.groups}[noun]


def _subjects(draft: Draft, path: Path, metric: Metric, subject: str, several: Iterable[Bound]) -> Iterator[Found]:
    noun = metric.subject
    for each in (subject, *(each for bound in several for each in bound.of)):
        if each and each not in known(draft, noun) and not (noun == "fault" and draft.named(each)):
            advice = instead(each, draft.written_names if noun == "fault" else known(draft, noun))
            what = f"there is no {noun} {each!r} to measure the {metric.name} of; {advice}"
            yield draft.at_key(path, what) if each == subject else draft.at(draft.holds(path, each), what)


def _figures(draft: Draft, path: Path, metric: Metric, subject: str, several: Iterable[Bound]) -> Iterator[Found]:
    """Yield figures that their subject never has, or that no subject has if none is named."""
    named = [each for bound in several for each in bound.of]
    for each in dict.fromkeys([subject] if subject or not named else named):
        if (what := misfit(draft, metric, each)) is not None:
            yield draft.at_key(path, what) if each == subject else draft.at(draft.holds(path, each), what)


def _windows(draft: Draft, path: Path, bounds: Iterable[Bound]) -> Iterator[Found]:
    for bound in bounds:
        if bound.during not in WINDOWS and not draft.named(bound.during):
            advice = instead(bound.during, (*WINDOWS, *draft.written_names))
            yield draft.at(draft.holds(path, bound.during), f"there is no window {bound.during!r}; {advice}")


def _ends(draft: Draft, path: Path, metric: Metric, several: tuple[Bound, ...]) -> Iterator[Found]:
    """Yield bounds that every figure keeps."""
    node = descend(draft.root, path)
    listed = isinstance(node, Sequence) and len(node.items) == len(several)
    for number, bound in enumerate(several):
        place: Path = (*path, number) if listed else path
        most = bound.max is not None and metric.unit == "ratio" and bound.max >= 1
        if bound.max is None and bound.min == 0:
            what = "nothing is less than that, so no run misses it"
            yield draft.at((*place, "min"), f"{what}; write min: {_LEAST.get(metric.unit, '1')}, or a max")
        elif most and not bound.min:
            what = "no share is more than that, so no run misses it"
            yield draft.at((*place, "max"), f"{what}; write max: 1 %, or another part of the whole")


def _errors(draft: Draft) -> Iterator[Found]:
    for probe, expected in draft.expect.errors.items():
        path: Path = ("expect", "errors", probe)
        if probe not in draft.probes:
            advice = instead(probe, draft.probes)
            yield draft.at_key(path, f"there is no probe {probe!r} to meet errors; {advice}")
        for name in sorted(expected.known - KNOWN):
            yield draft.at(draft.holds(path, name), f"librdkafka has no error {name!r}; {instead(name, KNOWN)}")


def _rules(draft: Draft) -> Iterator[Found]:
    path: Path = ("expect", "rules")
    subjects = {each for noun in NOUNS if noun != "fault" for each in known(draft, noun)}
    for rule, whose, must in draft.expect.rules.every if draft.expect.rules else ():
        inner: Path = (*path, "must" if must else "may")
        inner = inner if draft.written(inner) else path
        if rule not in RULES:
            what = f"no finding is of a rule {rule!r}; {instead(rule, RULES)} (chaosk list checks)"
            place = (*inner, rule)
            yield draft.at_key(place, what) if draft.written(place) else draft.at(draft.holds(inner, rule), what)
        for each in sorted(whose - subjects):
            what = f"there is no topic, group or probe {each!r}; {instead(each, subjects)}"
            yield draft.at(draft.holds((*inner, rule), each), what)
    named = draft.expect.verdict in (Outcome.VIOLATION, Outcome.PASS)
    if draft.expect.rules and not named and not _is_wrong(draft, ("verdict",)):
        what = (
            "rules name predicted findings; write `verdict: violation` as well, or `verdict: pass` if all are allowed"
        )
        yield draft.at_key(path, what)


def _verdict(draft: Draft) -> Iterator[Found]:
    """Yield predictions that do not name the violation or the missed bound."""
    path, expect = ("expect", "verdict"), draft.expect
    if expect.verdict is Outcome.INCONCLUSIVE:
        what = "a scenario cannot expect missing evidence; write another verdict, or leave `verdict` out"
        yield draft.at(path, what)
    unread = _is_wrong(draft, ("rules", *NAMING))
    if expect.verdict is Outcome.VIOLATION and not expect.rules and not unread and not any(_named(draft)):
        what = "name the rule or the figure of the predicted violation"
        yield draft.at(path, f"{what}; write rules: [A4], or a count from below, like lost_records: {{min: 1}}")
    if expect.verdict is Outcome.DEGRADED and not _is_wrong(draft, tuple(METRICS)):
        bounds = sum(len(several) for subjects in expect.objectives.values() for several in subjects.values())
        if bounds != 1:
            what = f"it is unclear which of {bounds} bounds is to be missed" if bounds else "there is no bound to miss"
            turned = "turn that bound round, like unavailability: {min: 20s}, and leave `verdict` out"
            yield draft.at(path, f"{what}; {turned}")


def _named(draft: Draft) -> Iterator[bool]:
    bounds: Mapping[str, Mapping[str, tuple[Bound, ...]]] = draft.expect.bounds
    for metric in NAMING:
        for several in bounds.get(metric, {}).values():
            yield from ((bound.min or 0) > 0 for bound in several)


def _is_wrong(draft: Draft, keys: Iterable[str]) -> bool:
    """Return True if one of these keys of ``expect`` is written but could not be read: its content is unknown."""
    read = {"verdict": draft.expect.verdict, "rules": draft.expect.rules, **draft.expect.bounds}
    return any(draft.written(("expect", key)) and not read.get(key) for key in keys)
