"""Self-check: counts that each process of a probe kept, compared with its rows.

A process that ended cleanly has written all that it counted: both must be equal. A killed process has written all rows
that its last tally covers, and maybe more, which are excluded before its rows are counted. The exceptions are figures
without a time (latencies by bucket, sends never answered): its rows may exceed these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from chaosk.analysis.case import Case, Process
from chaosk.analysis.events import Events
from chaosk.analysis.frames.gaps import SHORTEST
from chaosk.analysis.glances import row_counts
from chaosk.analysis.histograms import Histograms
from chaosk.analysis.reported_counts import GAP, UNANSWERED, FigureKey, Figures, ReportedCounts
from chaosk.rundir.events.fingerprint import Fingerprint
from chaosk.rundir.verdict import Guard

COUNTING = ("produce", "consume", "transform")
"""Kinds of probes that keep a tally: those that send or read records."""
SHOWN = 3
"""Maximum number of figures reported for one process."""
_NAMES = {
    "ok": "sends acknowledged",
    "fail": "sends that failed",
    "info": "sends that may have been written",
    UNANSWERED: "sends without an outcome",
    "answer": "outcomes of sends",
    "read": "deliveries",
    "poll": "polls",
}


def recounted(events: Events) -> dict[Process, Figures]:
    """Return the figures of the rows of each process with a tally, up to its last tally."""
    if not events.case.tallies:
        return {}
    return row_counts.recounted(events.rows)


def tallied(case: Case, figures: Mapping[Process, Figures], progress: Histograms) -> Iterator[Guard]:
    """Yield a guard for each process whose rows differ from its tally, or that ended cleanly without one."""
    due = {(worker.probe, worker.incarnation) for worker in case.workers if worker.kind in COUNTING}
    without = sorted(process for process in case.ends if process in due and process not in case.tallies)
    if without and not case.tallies:
        what = "no probe left a count of its own to hold its log against: a chaosk that keeps none recorded the run"
        yield Guard(guard="tally_missing", what=f"{what}; run the scenario again")
    elif without:
        names = ", ".join(f"{probe}/{incarnation}" for probe, incarnation in without)
        what = f"{names} ended cleanly and left no count to hold the log against: events are missing"
        yield Guard(guard="tally_missing", what=what)
    for process, tally in sorted(case.tallies.items()):
        found = differences(tally, figures[process], progress.latencies.get(process, {}), ended=process in case.ends)
        if told := _told(found):
            name = f"{process[0]}/{process[1]}"
            yield Guard(guard="tally_disagrees", what=f"the log of {name} is not what {name} was told: {told}")


def differences(
    own: ReportedCounts, rows: Figures, latencies: Mapping[tuple[str, int], int], *, ended: bool
) -> Iterator[str]:
    """Yield each figure that differs between a process and its rows, with both values; ``ended``: it ended cleanly."""
    for part in sorted({*own.figures, *rows}, key=str):
        mine, theirs = (each.get(part, Fingerprint()) for each in (own.figures, rows))
        if ended or part.what != UNANSWERED or theirs.records < mine.records:
            yield from _difference(part, mine, theirs)
    for what, bucket in sorted({*own.latencies, *latencies}):
        counted, found = own.latencies.get((what, bucket), 0), latencies.get((what, bucket), 0)
        if counted != found and (ended or found < counted):
            name = f"{_NAMES.get(what, what)} that took {bucket / 1e9:.6f} s or up to 0.1 % more"
            yield f"{name}: it counted {counted:,}, its rows are {found:,}"


def _difference(part: FigureKey, mine: Fingerprint, theirs: Fingerprint) -> Iterator[str]:
    if part == GAP:
        own, found = (each.nanoseconds if each.nanoseconds >= SHORTEST else 0 for each in (mine, theirs))
        if own != found:
            yield f"longest time between acknowledgements: it counted {own / 1e9:g} s, its rows say {found / 1e9:g} s"
        return
    name = _NAMES.get(part.what, part.what)
    if part.topic is not None:
        name += f" in {part.topic}-{'?' if part.partition is None else part.partition}"
    if mine.records != theirs.records:
        yield f"{name}: it counted {mine.records:,}, its rows are {theirs.records:,}"
    elif mine[1:3] != theirs[1:3]:
        prints = f"its fingerprint {_hex(mine)}, that of its rows {_hex(theirs)}"
        yield f"{name}: {mine.records:,} both times, but not the same ones: {prints}"
    elif mine.nanoseconds != theirs.nanoseconds:
        sums = f"it counted {mine.nanoseconds:,} ns in all, its rows say {theirs.nanoseconds:,} ns"
        yield f"latencies of {name}: {sums}"


def _hex(found: Fingerprint) -> str:
    return f"{found.xor:016x}/{found.sum:016x}"


def _told(found: Iterator[str]) -> str:
    """Describe the first differences, and count the rest; empty if there is none."""
    shown = list(islice(found, SHOWN))
    more = sum(1 for _ in found)
    return "; ".join(shown) + (f"; and {more:,} more figures" if more else "")
