"""Share of seconds in which a producer could write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.rundir.verdict import Measure

SECOND = 1_000_000_000
"""Length of a bucket in nanoseconds; the first bucket begins with the run."""

Counts = Counter[tuple[str, str, bool]]
"""By probe and window: the seconds with demand (False), and those of them with an acknowledgement (True)."""


class Availability(Check):
    """Share of the seconds with demand in which a producer received an acknowledgement.

    D3, after the metric of the same name in LinkedIn's Kafka monitor. A second has demand if a record was due in it, or
    was due before and had no outcome yet. It counts as available if any record of the producer was acknowledged in it,
    on any partition, or if a record due in it was acknowledged within one second. Seconds without demand do not count.
    A second belongs to the windows that contain its middle.
    """

    rule = "D3"
    title = "share of time in which writing succeeded"
    counted = ("second", "seconds")
    metrics = ("availability",)
    tables = ("sends",)

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``availability`` of each producer and window; None without demand."""
        counts = seconds(events.rows)
        for probe in events.case.probes("produce"):
            for window in events.case.windows:
                wanted, up = (counts[probe, window.name, which] for which in (False, True))
                yield measured("availability", probe, window.name, up / wanted if wanted else None)


def seconds(rows: EventRows) -> Counts:
    """Count the seconds of each producer and window in which records waited, and those of them that were available."""
    run, counts = rows.case.run, Counts()
    buckets = max(0, -((run.began - run.ended) // SECOND))
    middles = run.began + SECOND * np.arange(buckets) + SECOND // 2
    waiting = {probe: np.zeros(buckets + 1, np.int64) for probe in rows.case.probes("produce")}
    up = {probe: np.zeros(buckets + 2, np.bool_) for probe in waiting}
    for part in rows.parts("sends"):
        due, done, probes = part.columns("sends", "scheduled", "completed", "probe")
        late = (np.where(done == EMPTY, rows.case.record.ended, done) - run.began) // SECOND
        begun = (due - run.began) // SECOND
        acked = part.column("sends", "outcome") == part.code("outcome", "ok")
        prompt = acked & (done - due <= SECOND)
        for probe, change in waiting.items():
            mine = probes == part.code("probe", probe)
            np.add.at(change, np.clip(begun[mine], 0, buckets), 1)
            np.add.at(change, np.clip(late[mine] + 1, 0, buckets), -1)
            for when in (late[mine & acked], begun[mine & prompt]):
                up[probe][np.clip(when, -1, buckets)] = True
    for probe, change in waiting.items():
        wanted = np.cumsum(change)[:buckets] > 0
        for window in rows.case.windows:
            inside = wanted & (middles >= window.began) & (middles < window.ended)
            counts[probe, window.name, False] += int(inside.sum())
            counts[probe, window.name, True] += int((inside & up[probe][:buckets]).sum())
    return counts
