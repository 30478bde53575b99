"""Activity of probes during a fault: a fault that no probe could feel proves nothing. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.analysis.case import Case, TimeSpan
from chaosk.core import plugins
from chaosk.rundir.verdict import Fault
from chaosk.spec.contracts.step import Step
from chaosk.spec.metrics import METRICS

_LASTED = 1_000_000_000
"""Shortest time in nanoseconds of a close that shows an effect of the fault."""


def to_be_felt(case: Case) -> Iterator[Fault]:
    """Yield the faults that took and are not about the clients themselves: some probe must have felt them."""
    for fault in case.faults:
        if fault.took and not _not_for_clients(fault.step):
            yield fault


def concerned(case: Case, fault: str) -> frozenset[str]:
    """Return the probes in the scenario's objectives during a fault; all of them if it names none."""
    named = set(case.plan.expect.errors)
    for metric, subjects in case.plan.expect.bounds.items():
        for subject, bounds in subjects.items():
            for bound in bounds:
                if bound.during in ("run", fault):
                    named.update(_probes(case, METRICS[metric].subject, bound.of or (subject,)))
    known = named & case.plan.probes.keys()
    return frozenset(known or case.plan.probes)


def closing(case: Case, window: TimeSpan) -> frozenset[str]:
    """Return the probes that a step asked to end in a window, and that took a second or more of it to do so.

    Such a probe flushes, commits and leaves its group. This may be its only visible activity, since a call that never
    returns leaves no row. A probe that ends at once has not met the fault.
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
    """Yield the probes of the subjects: themselves, or the members of the group."""
    for probe, document in case.plan.probes.items():
        settings = next((each for each in document.values() if isinstance(each, dict)), {})
        name = settings.get("group") or probe if kind == "group" else probe
        if kind in ("probe", "group") and name in subjects:
            yield probe


def _not_for_clients(step: str) -> bool:
    """Return True if a step is about the probes, or ends another's fault; False for an unknown plugin's step."""
    kind = plugins.discover("chaosk.steps", Step).get(step)
    return kind is not None and (kind.about_clients or bool(kind.ends))
