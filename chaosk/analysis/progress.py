"""Guards about the probes' activity: incomplete logs, and probes without activity although there was work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from chaosk.analysis.case import LOOK, Case, Process, TimeSpan, Worker
from chaosk.analysis.due import readable, scheduled
from chaosk.analysis.felt import closing, concerned, to_be_felt
from chaosk.analysis.histograms import Histograms, total
from chaosk.analysis.must_fail_windows import AGAIN, afterwards, failing
from chaosk.analysis.readers import stopped
from chaosk.rundir.verdict import Guard

_SECOND = 1_000_000_000
"""Nanoseconds after its start in which a process need not have done anything."""
_READS = frozenset({"consume", "transform"})


def log_truncated(case: Case, progress: Histograms) -> Iterator[Guard]:
    """Yield guards for processes without an end marker that no step ended, and for those with missing rows."""
    on_purpose = {(end.probe, end.incarnation) for end in case.record.probes if end.ended_by == "step"}
    for worker in case.workers:
        process = (worker.probe, worker.incarnation)
        end = case.ends.get(process)
        name = f"{worker.probe}/{worker.incarnation}"
        if end is None:
            if process not in on_purpose:
                yield Guard(
                    guard="log_truncated", what=f"the log of {name} has no end marker: its last events are missing"
                )
            continue
        if end["rows"] != progress.processes[process]:
            what = f"the log of {name} has {progress.processes[process]:,} rows and says that it wrote {end['rows']:,}"
            yield Guard(guard="log_truncated", what=what)
        if worker.kind in _DUE and end["scheduled"] > progress.processes[process]:
            due = _DUE[worker.kind]
            what = f"{name} had {end['scheduled']:,} {due} due and accounts for {progress.processes[process]:,}"
            yield Guard(guard="log_truncated", what=what)


def nothing_happened(case: Case, progress: Histograms) -> Iterator[Guard]:
    """Yield guards for probes that never became ready, and for a run without any activity."""
    for probe in case.plan.probes:
        if not any(worker.probe == probe for worker in case.workers):
            yield Guard(guard="probe_not_started", what=f"the probe {probe} never got ready")
    if not sum(progress.processes.values()):
        what = "nothing was sent, read, asked or checked, so nothing was tested"
        yield Guard(guard="nothing_happened", what=what)


def no_progress(case: Case, progress: Histograms) -> Iterator[Guard]:
    """Yield guards for probes without a success before or after faults, or without an attempt during a fault.

    A fault counts for a second at least, see ``Case.looks``. A probe to which nothing was due is not missed, see
    :func:`_had_nothing_to_do`.
    """
    kinds = {worker.probe: worker.kind for worker in case.workers}
    looks = {look.name: look for look in case.looks}
    left = _left(case)
    for probe, kind in sorted(kinds.items()):
        success, attempt = _MISSING[kind]
        for window in _lasting(case):
            if (
                _is_to_fail(case, probe, window)
                or not _ran_through(case, probe, window, left)
                or _frozen(case, probe, window)
            ):
                continue
            during = window.name not in ("baseline", "after_heal")
            missing = attempt if during else success
            span = looks.get(LOOK + window.name, window)
            if not _progressed(case, progress, probe, span, during=during):
                yield Guard(guard="no_progress", what=f"{probe}: not one {missing} in the window {window.name}")
    for rest in afterwards(case):
        probe = rest.name.removeprefix(AGAIN)
        asked = probe in kinds and _ran_through(case, probe, rest, left) and not _frozen(case, probe, rest)
        if asked and not _progressed(case, progress, probe, rest, during=False):
            what = f"{probe}: not one {_MISSING[kinds[probe]][0]} from when on it was to fail no more"
            yield Guard(guard="no_progress", what=what)


def _progressed(case: Case, progress: Histograms, probe: str, span: TimeSpan, *, during: bool) -> bool:
    """Return True if the probe made the progress that a stretch of time requires, or had nothing to do in it."""
    kinds = {worker.probe: worker.kind for worker in case.workers}
    if total(progress, _TELLING[kinds[probe], during], probe, span.name):
        return True
    return _had_nothing_to_do(case, progress, probe, span, during=during)


def _had_nothing_to_do(case: Case, progress: Histograms, probe: str, span: TimeSpan, *, during: bool) -> bool:
    """Return True if nothing was due to the probe in a stretch of time.

    A probe with a schedule has nothing due if its next attempt may come later. A member of a group has nothing due
    while it polls and owns no partition, or none in which a record was written. Where a success is required, another
    probe must have had it: another one of the same kind, or for a member another one of its group.
    """
    kinds = {worker.probe: worker.kind for worker in case.workers}
    kind = kinds[probe]
    if kind not in _READS:
        others = [name for name, other in kinds.items() if other == kind and name != probe]
        idle = not scheduled(case, probe, span)
        return idle and (during or any(total(progress, _TELLING[kind, False], name, span.name) for name in others))
    group = {reader for name, reader in case.consumers if name == probe}
    fellows = [name for name, reader in case.consumers if reader in group and name != probe]
    works = any(total(progress, _TELLING[kinds[name], False], name, span.name) for name in fellows)
    polls = total(progress, _TELLING[kind, True], probe, span.name) > 0
    return not during and works and polls and not readable(case, probe, span)


def _is_to_fail(case: Case, probe: str, window: TimeSpan) -> bool:
    """Return True if the probe must fail in a part of the window: C6 judges its attempts."""
    span = failing(case).get(probe)
    return span is not None and span.began < window.ended and window.began < span.ended


def fault_unfelt(case: Case, progress: Histograms) -> Iterator[Guard]:
    """Yield a guard for each fault during which no probe named in the objectives attempted anything.

    Attempts count, not successes, regardless of how the probes ended before; so does a close that a step asked for. See
    ``Case.looks`` for instantaneous faults.
    """
    kinds = {worker.probe: worker.kind for worker in case.workers}
    looks = {look.name: look for look in case.looks}
    for fault in to_be_felt(case):
        wanted = concerned(case, fault.name)
        window = LOOK + fault.name
        if wanted & closing(case, looks[window]):
            continue
        if not any(total(progress, _TELLING[kinds[name], True], name, window) for name in wanted & kinds.keys()):
            who = f"of {', '.join(sorted(wanted))} none" if wanted < case.plan.probes.keys() else "no probe"
            what = f"while {fault.name} was in place {who} attempted anything, so none can have felt it"
            yield Guard(guard="fault_unfelt", what=f"{what}; let a probe work during the fault")


def _lasting(case: Case) -> Iterator[TimeSpan]:
    """Yield windows that require progress: baseline, each fault with a duration, the time after the last heal."""
    acted = {entry.name: entry for entry in case.acted}
    for window in case.windows:
        entry = acted.get(window.name)
        if window.name == "run" or (entry is not None and (not entry.took or entry.healed is None)):
            continue
        yield window


def _ran_through(case: Case, probe: str, window: TimeSpan, left: Mapping[Process, int]) -> bool:
    """Return True if a process of the probe had to run in the window.

    Not required is a process that an entry ended, that had left before the window's end, or that started in its last
    second.
    """
    ended = {(end.probe, end.incarnation) for end in case.record.probes if end.ended_by == "step"}
    ended |= {process for process, at in left.items() if at < window.ended}
    latest = max(window.began, window.ended - _SECOND)
    mine = [worker for worker in case.workers if worker.probe == probe]
    return any((w.probe, w.incarnation) not in ended and w.started < window.ended and w.started <= latest for w in mine)


def _left(case: Case) -> dict[Process, int]:
    """Return the processes that were right to end their work by themselves, with the time.

    Those that a successor fenced, and those that stopped at a failure as configured.
    """
    fenced = {process: at for process, at in case.fenced.items() if _has_successor(case, process)}
    replaced = {process: at for process, at in case.replaced.items() if _is_replaced(case, process)}
    return {**fenced, **replaced, **stopped(case)}


def _has_successor(case: Case, fenced: Process) -> bool:
    """Return True if a later process writes and was not fenced itself."""
    since = next((w.started for w in case.workers if (w.probe, w.incarnation) == fenced), 0)
    others = (w for w in case.workers if w.kind in ("produce", "transform") and (w.probe, w.incarnation) != fenced)
    return any(w.started >= since and (w.probe, w.incarnation) not in case.fenced for w in others)


def _is_replaced(case: Case, fenced: Process) -> bool:
    """Return True if a later process has the member's group and ``group.instance.id``, and was not fenced itself."""
    member = next((w for w in case.workers if (w.probe, w.incarnation) == fenced), None)
    instance = member and _instance(case, member)
    others = (w for w in case.workers if (w.probe, w.incarnation) not in case.replaced)
    return member is not None and any(
        w.started >= member.started and w.group == member.group and _instance(case, w) == instance for w in others
    )


def _instance(case: Case, worker: Worker) -> object:
    """Return the ``group.instance.id`` that the scenario sets for a consumer; None if it sets none."""
    settings = case.plan.probes.get(worker.probe, {}).get(worker.kind) or {}
    return (settings.get("config") or {}).get("group.instance.id")


def _frozen(case: Case, probe: str, window: TimeSpan) -> bool:
    """Return True if the probe was paused during the whole window, so that no progress is required."""
    pauses = {one.name for one in case.plan.timeline if one.kind == "pause_probe" and one.step.get("probe") == probe}
    return any(
        pause.name in pauses and pause.began <= window.began and window.ended <= pause.ended for pause in case.windows
    )


_TELLING = {
    ("produce", False): ("ok",),
    ("produce", True): ("ok", "fail", "info"),
    ("consume", False): ("read",),
    ("consume", True): ("call",),
    ("transform", False): ("read",),
    ("transform", True): ("call",),
    ("health_check", False): ("healthy",),
    ("health_check", True): ("healthy", "unhealthy"),
    ("call", False): ("answered",),
    ("call", True): ("call",),
}
"""Events that count as progress, by kind of probe, and True for the time of a fault."""

_MISSING = {
    "produce": ("record acknowledged", "send attempted"),
    "consume": ("record delivered", "poll or commit under way"),
    "transform": ("record delivered", "poll or commit under way"),
    "health_check": ("health check that succeeded", "health check"),
    "call": ("call answered", "call"),
}
"""Missing activity by kind of probe: a success, or during a fault an attempt."""

_DUE = {"produce": "records", "health_check": "health checks", "call": "calls"}
"""Scheduled work by kind of probe with a schedule."""

ABOUT_PROGRESS: tuple[Callable[[Case, Histograms], Iterator[Guard]], ...] = (
    log_truncated,
    nothing_happened,
    no_progress,
    fault_unfelt,
)
"""All guards about progress."""
