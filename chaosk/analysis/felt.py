"""Whether anybody was at work while a fault lasted: one that nobody could feel proves nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.analysis.case import Case, Span
from chaosk.core import plugins
from chaosk.rundir.verdict import Fault
from chaosk.spec.contracts.step import Step
from chaosk.spec.metrics import METRICS

_LASTED = 1_000_000_000
"""Nanoseconds of a close that show that something kept it."""


def to_be_felt(case: Case) -> Iterator[Fault]:
    """The faults that took and are not about the clients themselves: those that some probe has to have felt."""
    for fault in case.faults:
        if fault.took and not _not_for_clients(fault.step):
            yield fault


def concerned(case: Case, fault: str) -> frozenset[str]:
    """The probes that the scenario's objectives are about while a fault lasts; all of them where it names none."""
    named = set(case.plan.expect.errors)
    for metric, subjects in case.plan.expect.bounds.items():
        for subject, bounds in subjects.items():
            for bound in bounds:
                if bound.during in ("run", fault):
                    named.update(_probes(case, METRICS[metric].subject, bound.of or (subject,)))
    known = named & case.plan.probes.keys()
    return frozenset(known or case.plan.probes)


def closing(case: Case, window: Span) -> frozenset[str]:
    """The probes that a step asked to end in a window, and that took a second or more of it to do so.

    Each flushes, commits and leaves its group then. That may be all that can be seen of its work: a call that never
    returns leaves no row. One that ends at once has not met the fault.
    """
    probes = {entry.name: str(entry.step.get("probe")) for entry in case.plan.timeline if entry.kind == "stop_probe"}
    return frozenset(
        probes[entry.name]
        for entry in case.acted
        if entry.name in probes
        and window.began <= entry.invoked
        and min(entry.applied or window.ended, window.ended) - entry.invoked >= _LASTED
    )


def _probes(case: Case, kind: str, subjects: tuple[str, ...]) -> Iterator[str]:
    """The probes that subjects are: themselves, or the members of the group."""
    for probe, document in case.plan.probes.items():
        settings = next((each for each in document.values() if isinstance(each, dict)), {})
        name = settings.get("group") or probe if kind == "group" else probe
        if kind in ("probe", "group") and name in subjects:
            yield probe


def _not_for_clients(step: str) -> bool:
    """Whether a step is about the probes, or ends another's fault; one of a plugin that is not here is neither."""
    kind = plugins.discover("chaosk.steps", Step).get(step)
    return kind is not None and (kind.about_clients or bool(kind.ends))
