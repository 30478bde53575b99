"""Guards: reasons why a run's evidence does not suffice. Missing evidence is INCONCLUSIVE, never a pass.

Each guard is a function of the case (and of the probes' progress) that yields the missing evidence; pure Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.commit_guards import foreign_commit, group_not_asked, start_by_nobody
from chaosk.analysis.histograms import Histograms
from chaosk.analysis.judge import SKIPPED
from chaosk.analysis.plan_guards import plan_contradicted
from chaosk.analysis.progress import ABOUT_PROGRESS
from chaosk.analysis.stillness import still
from chaosk.rundir.events.writer_reports import WATCHER
from chaosk.rundir.verdict import Guard

_SHOWN = 3
"""Number of stalls that are listed one by one."""
_DRIFT = 0.5
"""Seconds that the wall clock may move relative to the monotonic one, at once or gradually."""
_PHASES = ("baseline", "timeline", "settle", "drain", "audit")
"""Phases of every complete run."""


def guards(case: Case, progress: Histograms) -> tuple[Guard, ...]:
    """Return every guard that is not met, in a fixed order."""
    found = [guard for one in _ABOUT_RUN for guard in one(case)]
    found.extend(guard for one in ABOUT_PROGRESS for guard in one(case, progress))
    return tuple(found)


def aborted(case: Case) -> Iterator[Guard]:
    """Yield a guard if a stop condition ended the run."""
    breach = case.record.breach
    if breach is not None:
        when = (breach.at - case.record.began) / 1e9
        place = f"{when:.1f} s into the timeline" if when >= 0 else "before the timeline began"
        took = f"decided {(breach.decided - breach.at) / 1e9:.2f} s after it was seen"
        if breach.healed is not None:
            took += f", all undone {(breach.healed - breach.decided) / 1e9:.1f} s later"
        what = f"ABORTED BY GUARD {breach.condition}, {place}: {breach.what} ({took})"
        yield Guard(guard="aborted_by_guard", what=what)


def broken_off(case: Case) -> Iterator[Guard]:
    """Yield guards for an interrupted or failed run, and for incomplete or missing phases."""
    if case.record.interrupted:
        yield Guard(guard="run_interrupted", what="the run was interrupted; run the scenario again")
    if case.record.error is not None and case.record.breach is None:
        yield Guard(guard="run_broken_off", what=f"the run broke off: {case.record.error}")
    for phase in case.unfinished:
        yield Guard(guard="run_broken_off", what=f"the phase {phase} was cut short")
    if case.record.streams is not None and case.record.error is None and not case.record.interrupted:
        there = {span.name for span in case.phases}
        for phase in _PHASES:
            if phase not in there:
                yield Guard(guard="run_broken_off", what=f"nothing says that the run had the phase {phase}")


def entry_failed(case: Case) -> Iterator[Guard]:
    """Yield a guard for each timeline entry that failed (no target, condition timed out) or never started."""
    ends = {end.entry: end for end in case.record.entries}
    acted = {entry.name for entry in case.acted}
    passed = {decision.entry for decision in case.decisions if decision.what == "skip"}
    for entry in case.plan.timeline:
        end = ends.get(entry.name)
        if end is not None and end.status != "done":
            yield Guard(
                guard=SKIPPED if entry.name in passed else "entry_not_done",
                what=f"the entry {entry.name} {end.status}: {end.why or 'no reason given'}",
            )
        elif entry.name not in acted:
            yield Guard(guard="entry_not_done", what=f"nothing says what the entry {entry.name} did, or that it did it")


def fault_not_verified(case: Case) -> Iterator[Guard]:
    """Yield a guard for each fault that was not seen to take effect, or did not last until its undo."""
    for fault in case.faults:
        if not fault.took:
            why = fault.why or "its effect was not seen"
            yield Guard(
                guard="fault_not_verified", what=f"the fault {fault.name} on {fault.targets} did not take: {why}"
            )


def not_healed(case: Case) -> Iterator[Guard]:
    """Yield a guard for each injected fault whose undo was not verified."""
    for what in case.record.not_healed:
        yield Guard(guard="not_healed", what=f"not undone: {what}")
    for fault in case.faults:
        if not fault.undone and not case.record.not_healed:
            yield Guard(
                guard="not_healed", what=f"not undone: {fault.name} on {fault.targets}: {fault.why or 'unknown'}"
            )
    if not case.record.healed and not case.record.not_healed and all(fault.undone for fault in case.faults):
        yield Guard(guard="not_healed", what="the run does not say that everything was undone; look at its undo folder")


def probe_died(case: Case) -> Iterator[Guard]:
    """Yield a guard for each probe that ended on its own."""
    for end in case.record.probes:
        if end.ended_by == "itself":
            words = f": {end.last_words}" if end.last_words else ""
            yield Guard(
                guard="probe_died",
                what=f"the probe {end.probe}/{end.incarnation} ended by itself with {end.exit_status}{words}",
            )


def started_twice(case: Case) -> Iterator[Guard]:
    """Yield a guard if two processes of a probe have the same number, so that their records are indistinguishable."""
    started = Counter((worker.probe, worker.incarnation) for worker in case.workers)
    for (probe, incarnation), count in sorted(started.items()):
        if count > 1:
            what = f"{count} processes were started as {probe}/{incarnation}: their records cannot be told apart"
            yield Guard(guard="process_started_twice", what=what)


def audit(case: Case) -> Iterator[Guard]:
    """Yield a guard for each partition of the scenario's topics that was not audited completely, by isolation level."""
    rows = {(row["isolation"], row["topic"], row["partition"]): row for row in case.ranges}
    for isolation in ("read_uncommitted", "read_committed"):
        for topic, shape in sorted(case.topics.items()):
            wanted = range(shape.partitions)
            missing = [number for number in wanted if (isolation, topic, number) not in rows]
            if missing:
                names = ", ".join(f"{topic}-{number}" for number in missing)
                yield Guard(guard="audit_missing", what=f"the tail audit at {isolation} did not read {names}")
            for number in wanted:
                row = rows.get((isolation, topic, number))
                if row is not None and not row["complete"]:
                    why = row["why"] or "no reason given"
                    yield Guard(
                        guard="audit_incomplete", what=f"the tail audit of {topic}-{number} at {isolation}: {why}"
                    )


def torn(case: Case) -> Iterator[Guard]:
    """Yield a guard for each truncated event stream, unless a step killed its writer."""
    killed = {f"{end.probe}-{end.incarnation}" for end in case.record.probes if end.ended_by == "step"}
    for stream in case.record.torn:
        if not any(part in killed for part in stream.split("/")):
            yield Guard(guard="events_torn", what=f"the event stream {stream} is cut short: its last rows are missing")


def streams(case: Case) -> Iterator[Guard]:
    """Yield a guard for each writer without a final count, or whose rows differ from its count."""
    for one in case.discrepancies:
        if one.told:
            yield Guard(guard="stream_incomplete", what=one.what)


def clocks(case: Case) -> Iterator[Guard]:
    """Yield a guard for each jump of the wall clock."""
    apart: float | None = None
    for monotonic, wall in case.clocks:
        now = (wall - monotonic) / 1e9
        if apart is not None and abs(now - apart) > _DRIFT:
            what = f"the wall clock jumped by {now - apart:+.3f} s; what the clients time by it is not to be trusted"
            yield Guard(guard="clock_jump", what=what)
        elif apart is not None:
            continue
        apart = now


def silent(case: Case) -> Iterator[Guard]:
    """Yield a guard for each stretch in which the machine that runs chaosk stalled: no row at all was written."""
    for span in case.silences:
        seconds = (span.ended - span.began) / 1e9
        yield Guard(guard="clock_silent", what=f"nothing was written for {seconds:.1f} s: chaosk's machine stood still")


def probe_stood_still(case: Case) -> Iterator[Guard]:
    """Yield a guard if a probe or the watcher stalled without a step: stopped from outside, swapped or starved."""
    spans = [one for one in still(case) if not any(_within(one, silence) for silence in case.silences)]
    for name in sorted({span.name for span in spans}):
        mine = [span for span in spans if span.name == name]
        times = ", ".join(
            f"for {(one.ended - one.began) / 1e9:.1f} s from {(one.began - case.record.began) / 1e9:+.1f} s on"
            for one in mine[:_SHOWN]
        )
        more = f", and {len(mine) - _SHOWN} times more" if len(mine) > _SHOWN else ""
        who, guard = ("the watcher", "watcher_stood_still") if name == WATCHER else (name, "probe_stood_still")
        what = (
            f"{who} stood still {times}{more}: its process was stopped, swapped out or given no processor, and no step "
            "of the scenario did that, so what it did not do then says nothing of the cluster; run the scenario again"
        )
        yield Guard(guard=guard, what=what)


def _within(one: TimeSpan, silence: TimeSpan) -> bool:
    return silence.began <= one.ended and one.began <= silence.ended


def unwatched(case: Case) -> Iterator[Guard]:
    """Yield a guard if the watcher has no sample of the cluster."""
    if not case.rows["partitions"]:
        yield Guard(
            guard="watcher_silent", what="no sample of leaders and replicas was taken, so the cluster was not watched"
        )


_ABOUT_RUN: tuple[Callable[[Case], Iterator[Guard]], ...] = (
    aborted, broken_off, entry_failed, fault_not_verified, not_healed, probe_died, started_twice, audit,
    group_not_asked, foreign_commit, start_by_nobody, torn, streams, clocks, silent, probe_stood_still, unwatched,
    plan_contradicted,
)  # fmt: skip
