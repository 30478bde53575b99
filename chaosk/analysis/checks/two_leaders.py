"""Partitions with two self-declared leaders at the same time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.claims import claims
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.partition_history import PartitionHistory, described
from chaosk.rundir.verdict import Measure

SHORTEST = 1_000_000_000
"""Shortest stretch in nanoseconds; news of an election may take less than that."""


class TwoLeaders(Check):
    """Stretches in which two brokers each named themselves as the leader of a partition, at different leader epochs.

    D6. A leader that is cut off only from ZooKeeper or the controllers continues to act as leader after another one was
    elected, and its clients stay with it. Its followers leave it, so it acknowledges nothing with ``acks=all`` and its
    consumers get nothing new; records that it acknowledges with ``acks=1`` will be lost. A stretch counts from one
    second on. It lasts from the later leader's first answer that names itself to the last such answer of either. So the
    true time is at least that long, and at most one sampling interval longer at either end.

    Columns: topic, partition, deposed and deposed_epoch (the broker with the lower epoch), leader and leader_epoch (the
    one with the higher), seconds.
    """

    rule = "D6"
    title = "two leaders at once"
    counted = ("stretch with two leaders at once", "stretches with two leaders at once")
    metrics = ("two_leaders",)
    tables = ("partitions",)
    order = ("began", *PLACE, "deposed_epoch", "leader_epoch")

    def glance(self, rows: EventRows) -> bool:
        """Return True if two brokers named themselves as the leader of a partition over an overlapping second."""
        asked, leader, epoch, at = rows.columns("partitions", "asked", "leader", "leader_epoch", "at")
        own = (asked == leader) & (epoch != EMPTY)
        who = np.stack([rows.places("partitions"), epoch, asked])[:, own]
        names, which = np.unique(who, axis=1, return_inverse=True)
        began, ended = np.full(names.shape[1], at.max(initial=0)), np.zeros(names.shape[1], dtype=np.int64)
        np.minimum.at(began, which.ravel(), at[own])
        np.maximum.at(ended, which.ravel(), at[own])
        spans = zip(names[0].tolist(), names[2].tolist(), began.tolist(), ended.tolist(), strict=True)
        return any(
            one[0] == other[0] and one[1] != other[1] and min(one[3], other[3]) - max(one[2], other[2]) >= SHORTEST
            for one, other in combinations(spans, 2)
        )

    def violations(self, events: Events) -> DataFrame:
        """Return stretches as information: with ``acks=all`` they need not cause a loss."""
        claimed = events.frame(claims)
        one = claimed.withColumnsRenamed({name: f"old_{name}" for name in ("broker", "epoch", "began", "ended")})
        other = claimed.withColumnsRenamed({name: f"new_{name}" for name in ("broker", "epoch", "began", "ended")})
        return (
            one.join(events.near(other), on=list(PLACE), how="inner")
            .filter((F.col("old_broker") != F.col("new_broker")) & (F.col("old_epoch") < F.col("new_epoch")))
            .withColumns({"began": F.greatest("old_began", "new_began"), "ended": F.least("old_ended", "new_ended")})
            .filter(F.col("ended") - F.col("began") >= SHORTEST)
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(
                *MEANING, *PLACE, F.col("old_broker").alias("deposed"), F.col("old_epoch").alias("deposed_epoch"),
                F.col("new_broker").alias("leader"), F.col("new_epoch").alias("leader_epoch"), "seconds",
            )
        )  # fmt: skip

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``two_leaders``: the longest of each topic, in every window that it overlaps; None without samples."""
        rows, said = found.rows("topic", "began", "ended", "seconds"), events.once(described)
        for topic in sorted(events.case.topics):
            for window in events.case.windows:
                yield _longest(said, topic, window, [row for row in rows if row["topic"] == topic])


def _longest(said: PartitionHistory, topic: str, window: TimeSpan, rows: Iterable[dict[str, int]]) -> Measure:
    inside = [row["seconds"] for row in rows if row["began"] <= window.ended and window.began <= row["ended"]]
    none = 0.0 if said.watched(topic, window) else None
    return measured("two_leaders", topic, window.name, max(inside, default=none))
