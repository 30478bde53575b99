"""Stalls of chaosk's processes that no step caused, from their heartbeats: pure, over plain values.

A probe that is stopped from outside, swapped out or starved does nothing, and its figures would blame the cluster. A
process that waits in a client call, or processes a record, has heartbeats and does not count as stalled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from chaosk.analysis.case import Case, Pulse, TimeSpan, Worker
from chaosk.analysis.intervals import Interval, without
from chaosk.rundir.events.heartbeat import PERIOD
from chaosk.rundir.events.writer_reports import WATCHER, writer_of
from chaosk.rundir.verdict import Fault, Measure
from chaosk.spec.metrics import METRICS

LEAST = 1_000_000_000
"""Shortest stall: nanoseconds by which a heartbeat is overdue. It equals the shortest outage that is reported."""
_MARGIN = 1_000_000_000
"""Nanoseconds by which a pause may exceed its step's observed duration, on either side."""
_CUT = frozenset({"unavailability", "unavailable_total"})
"""Metrics of probes that exclude the time of stalls."""


def pulse(beats: Iterable[int]) -> Pulse:
    """Return the pulse of a process from its beats, in any order, at least one."""
    ordered = sorted(beats)
    gaps = ((one, other) for one, other in pairwise(ordered) if other - one >= PERIOD + LEAST)
    return Pulse(ordered[-1], tuple(gaps))


def still(case: Case) -> tuple[TimeSpan, ...]:
    """Return stalls of probes and the watcher during their work; each span has its probe's name, or the watcher's."""
    first, last = case.run.began, max((one.ended for one in case.phases if one.name == "drain"), default=case.run.ended)
    found = [*_watcher(case), *(span for worker in case.workers for span in _worker(case, worker))]
    inside = (TimeSpan(one.name, max(one.began, first), min(one.ended, last)) for one in found)
    return tuple(sorted((one for one in inside if one.began < one.ended), key=lambda one: (one.began, one.name)))


def stood_still(case: Case, probes: Iterable[str]) -> tuple[TimeSpan, ...]:
    """Return the stalls of some probes."""
    names = set(probes)
    return tuple(span for span in still(case) if span.name in names)


def told(case: Case, measures: Iterable[Measure]) -> Iterator[Measure]:
    """Yield the figures, with None for figures of a stalled probe, and for recoveries that a stall may have delayed."""
    spans = still(case)
    windows = {window.name: window for window in case.windows}
    since = {fault.name: fault.applied for fault in case.faults}
    for measure in measures:
        kind = METRICS.get(measure.metric)
        if kind is None or not spans or measure.censored or measure.metric in _CUT or kind.unit not in ("s", "ratio"):
            yield measure
        elif kind.subject == "fault":
            hit = any(span.ended > (since.get(measure.subject) or 0) for span in spans if span.name != WATCHER)
            yield measure.model_copy(update={"value": None}) if hit else measure
        else:
            window, probe = windows.get(measure.window), measure.subject.partition(",")[0]
            hit = kind.subject == "probe" and any(span.name == probe and _overlaps(span, window) for span in spans)
            yield measure.model_copy(update={"value": None}) if hit else measure


def _overlaps(span: TimeSpan, window: TimeSpan | None) -> bool:
    return window is not None and span.began < window.ended and window.began < span.ended


def _watcher(case: Case) -> Iterator[TimeSpan]:
    pulse_ = case.pulses.get(WATCHER)
    for began, ended in pulse_.gaps if pulse_ is not None else ():
        yield TimeSpan(WATCHER, began, ended)


def _worker(case: Case, worker: Worker) -> Iterator[TimeSpan]:
    pulse_ = case.pulses.get(writer_of(worker.probe, worker.incarnation))
    if pulse_ is None:
        return
    frozen = [
        (fault.invoked - _MARGIN, (fault.healed or case.record.ended) + _MARGIN)
        for fault in _steps(case, worker.probe, "pause_probe")
    ]
    for began, ended in without([*pulse_.gaps, *_silent_end(case, worker, pulse_.last)], frozen):
        if ended - began >= LEAST:
            yield TimeSpan(worker.probe, began, ended)


def _silent_end(case: Case, worker: Worker, last: int) -> Iterator[Interval]:
    """Yield the time from the last beat until a step's kill, if it is too long: the process stalled before the kill."""
    kills = [fault.invoked for fault in _steps(case, worker.probe, "kill_probe") if fault.invoked > worker.started]
    if (worker.probe, worker.incarnation) not in case.ends and kills and min(kills) - last >= LEAST + _MARGIN:
        yield last, min(kills)


def _steps(case: Case, probe: str, kind: str) -> Iterator[Fault]:
    names = {e.name for e in case.plan.timeline if e.kind == kind and e.step.get("probe") == probe}
    yield from (fault for fault in case.acted if fault.name in names)
