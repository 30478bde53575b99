"""Share of seconds in which a producer could write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.windows import Segments
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
        counts = at_a_glance(events.rows) if events.glances else by_spark(events)
        for probe in events.case.probes("produce"):
            for window in events.case.windows:
                wanted, up = (counts[probe, window.name, which] for which in (False, True))
                yield measured("availability", probe, window.name, up / wanted if wanted else None)


def at_a_glance(rows: EventRows) -> Counts:
    """Count seconds of a small run without Spark."""
    run, counts = rows.case.run, Counts()
    buckets = max(0, -((run.began - run.ended) // SECOND))
    middles = run.began + SECOND * np.arange(buckets) + SECOND // 2
    due, done, probes = rows.columns("sends", "scheduled", "completed", "probe")
    late = (np.where(done == EMPTY, rows.case.record.ended, done) - run.began) // SECOND
    begun = (due - run.began) // SECOND
    acked = rows.column("sends", "outcome") == rows.code("outcome", "ok")
    prompt = acked & (done - due <= SECOND)
    for probe in rows.case.probes("produce"):
        mine = probes == rows.code("probe", probe)
        waiting = np.zeros(buckets + 1, dtype=np.int64)
        np.add.at(waiting, np.clip(begun[mine], 0, buckets), 1)
        np.add.at(waiting, np.clip(late[mine] + 1, 0, buckets), -1)
        up = np.zeros(buckets + 2, dtype=np.bool_)
        for when in (late[mine & acked], begun[mine & prompt]):
            up[np.clip(when, -1, buckets)] = True
        wanted = np.cumsum(waiting)[:buckets] > 0
        for window in rows.case.windows:
            inside = wanted & (middles >= window.began) & (middles < window.ended)
            counts[probe, window.name, False] += int(inside.sum())
            counts[probe, window.name, True] += int((inside & up[:buckets]).sum())
    return counts


def by_spark(events: Events) -> Counts:
    """Count seconds of a run of any size with Spark."""
    case = events.case

    def bucket(time: Column) -> Column:
        return F.floor((time - case.run.began) / F.lit(SECOND))

    done = F.coalesce("completed", F.lit(case.record.ended))
    acked = F.col("outcome") == "ok"
    due = bucket(F.col("scheduled"))
    spans = (
        events.table("sends")
        .withColumns({"due": due, "over": bucket(done), "prompt": acked & (done - F.col("scheduled") <= SECOND)})
        .select("probe", "due", F.greatest("due", "over").alias("over"), acked.alias("acked"), "prompt")
        .distinct()
    )
    waited = F.explode(F.sequence("due", "over"))
    wanted = spans.select("probe", "due", "over").distinct().select("probe", waited.alias("second")).distinct()
    moments = F.array_compact(F.array(F.when(F.col("acked"), F.col("over")), F.when(F.col("prompt"), F.col("due"))))
    up = spans.select("probe", F.explode(moments).alias("second")).distinct().withColumn("up", F.lit(True))
    middle = F.col("second") * SECOND + case.run.began + SECOND // 2
    segments = Segments(case.windows)
    rows = (
        wanted.join(up, on=["probe", "second"], how="left")
        .groupBy("probe", *segments.of(middle))
        .agg(F.count("*").alias("wanted"), F.count("up").alias("up"))
    )
    counts = Counts()
    for row in rows.collect():
        for window in segments.windows(row):
            counts[row["probe"], window, False] += int(row["wanted"])
            counts[row["probe"], window, True] += int(row["up"])
    return counts
