"""Time that clients took to start and to close."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chaosk.analysis.activity import activity
from chaosk.analysis.case import Case, Worker
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.completeness import gone
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.histograms import Histograms
from chaosk.rundir.verdict import Measure

_SUCCESS = {"produce": "ok", "consume": "read", "transform": "read", "call": "answered"}
"""Name of the first success in ``histograms``, by kind of probe."""

Stretch = tuple[int, int, bool]
"""Start, end, and True if it is censored."""


class Lifecycle(Check):
    """Time of a probe's process until its first success, and from the request to end until its exit.

    D4. A process *starts* from when it is ready, with no request sent yet, until its first record is acknowledged or
    delivered, or its first call answered. The first process of a producer has warmed up before it is ready, so this is
    the time of one record. A process without a success took at least until its exit. It *closes* from when it is asked
    to end until its exit: a producer flushes, a consumer commits, leaves its group and closes its client. A process
    that had to be killed in the end took at least so long; one that was killed without being asked to end has no
    figure. Health checks keep no client, and have no such figures.

    A process counts in the windows in which it started, and in which it was asked to end; the run's window has all of
    them. An entry that asks it to end counts it: for this figure, the entry's window begins when it is invoked.
    """

    rule = "D4"
    title = "how long clients took to start and to close"
    counted = ("process", "processes")
    metrics = ("start_time", "close_time")
    tables = ("sends", "reads", "calls", "incarnations", "ends")

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``start_time`` and ``close_time`` (the longest) of each probe, and of each window with any."""
        case, seen = events.case, events.once(activity)
        for probe in sorted({worker.probe for worker in case.workers if worker.kind in _SUCCESS}):
            mine = [worker for worker in case.workers if worker.probe == probe]
            yield from _longest(case, "start_time", probe, [_start(case, seen, worker) for worker in mine])
            yield from _longest(case, "close_time", probe, list(_closes(case, probe)))


def _start(case: Case, seen: Histograms, worker: Worker) -> Stretch:
    first = seen.first.get((_SUCCESS[worker.kind], worker.probe, worker.incarnation))
    return worker.started, gone(case, worker) if first is None else first, first is None


def _closes(case: Case, probe: str) -> Iterable[Stretch]:
    for end in case.record.probes:
        if end.probe == probe and end.told is not None and end.gone is not None:
            yield end.told, end.gone, (end.exit_status or 0) < 0


def _longest(case: Case, metric: str, probe: str, stretches: Sequence[Stretch]) -> Iterable[Measure]:
    invoked = {entry.name: entry.invoked for entry in case.acted}
    for window in case.windows:
        since = min(window.began, invoked.get(window.name, window.began))
        mine = [one for one in stretches if window.name == "run" or since <= one[0] < window.ended]
        if mine:
            longest = max(max(0, ended - began) for began, ended, _ in mine) / 1e9
            yield measured(metric, probe, window.name, longest, censored=any(open_end for *_, open_end in mine))
