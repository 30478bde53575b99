"""Completeness of a probe's log in a window."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.case import Case, TimeSpan, Worker
from chaosk.analysis.stillness import stood_still


def there(case: Case, probes: Iterable[str], window: TimeSpan) -> bool:
    """Return True if any process of these probes had started before the window was over: else it has no figures."""
    names = set(probes)
    return any(worker.probe in names and worker.started < window.ended for worker in case.workers)


def incomplete(case: Case, probes: Iterable[str], window: TimeSpan) -> bool:
    """Return True if more may have happened to these probes in the window than their logs show.

    This is so if chaosk's machine or one of the probes stalled. It is also so if a process without an end marker may
    have been alive after its last tally: later results may not be recorded. The recorded results remain valid.
    """
    names = set(probes)
    if any(_overlaps(silence, window) for silence in (*case.silences, *stood_still(case, names))):
        return True
    unended = (w for w in case.workers if w.probe in names and (w.probe, w.incarnation) in case.unended)
    return any(_overlaps(_untold(case, worker), window) for worker in unended)


def gone(case: Case, worker: Worker) -> int:
    """Return the latest possible end of a process, in monotonic nanoseconds.

    It is the end marker, else the kill or the start of the next process, else the end of the run.
    """
    process = (worker.probe, worker.incarnation)
    if process in case.ends:
        return case.ends[process]["at"]
    own = (entry for entry in case.plan.timeline if entry.step.get("probe") == worker.probe)
    kills = {entry.name for entry in own if entry.kind == "kill_probe"}
    killed = [fault.applied for fault in case.acted if fault.name in kills and fault.applied is not None]
    next_ones = [w.started for w in case.workers if w.probe == worker.probe and w.incarnation > worker.incarnation]
    return min((at for at in (*killed, *next_ones) if at > worker.started), default=case.record.ended)


def _untold(case: Case, worker: Worker) -> TimeSpan:
    """Return the time from a process's last tally until its end."""
    tally = case.tallies.get((worker.probe, worker.incarnation))
    told = worker.started if tally is None else tally.at
    return TimeSpan(worker.probe, told, max(told, gone(case, worker)))


def _overlaps(one: TimeSpan, other: TimeSpan) -> bool:
    return one.began < other.ended and other.began < one.ended
