"""Leader epochs that regress along a log."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.glances.rows import EventRows


class LeaderEpochRegression(Check):
    """A record has a lower leader epoch than a record before it in the log.

    A13: each record keeps the epoch of the leader that appended it, and within one log that epoch only increases. All
    readers and the tail audit are compared. If they saw two logs, as after a truncation, records of the older log are
    after records of the newer one that have a higher epoch. Allowed if the log was seen to be truncated at or before
    that record.

    Columns: topic, partition, before (the offset of the preceding record seen), before_epoch, offset, leader_epoch.
    """

    rule = "A13"
    title = "records of an earlier leader behind those of a later one"
    counted = ("record of an earlier leader", "records of earlier leaders")
    tables = ("reads", "audit")
    order = (*PLACE, "offset")

    def glance(self, rows: EventRows) -> bool:
        """Return True if the epoch decreases anywhere in offset order."""
        place = np.concatenate([rows.places("reads"), rows.places("audit")])
        offset, epoch = (
            np.concatenate([rows.column("reads", name), rows.column("audit", name)])
            for name in ("offset", "leader_epoch")
        )
        known = epoch >= 0
        place, offset, epoch = place[known], offset[known], epoch[known]
        order = np.lexsort((epoch, offset, place))
        falls = (np.diff(epoch[order]) < 0) & (np.diff(place[order]) == 0)
        return bool(falls.any())

    def violations(self, events: Events) -> DataFrame:
        """Return offsets whose record has a lower epoch than the record seen before it."""
        seen = _seen(events)
        in_order = Window.partitionBy(*PLACE).orderBy("offset")
        return (
            seen.join(events.near(_overlapping(seen)), on=list(PLACE), how="left_semi")
            .groupBy(*PLACE, "offset")
            .agg(F.min("leader_epoch").alias("leader_epoch"), F.max("leader_epoch").alias("highest"))
            .withColumn("before", F.lag("offset").over(in_order))
            .withColumn("before_epoch", F.lag("highest").over(in_order))
            .filter(F.col("leader_epoch") < F.col("before_epoch"))
            .withColumns(meaning(*excused(events, F.col("offset")), otherwise=("violation", None)))
            .withColumns(during(None, None))
            .select(*MEANING, *PLACE, "before", "before_epoch", "offset", "leader_epoch")
        )


def _seen(events: Events) -> DataFrame:
    """Return every sighting of a record with a known leader epoch."""
    read = events.table("reads").select(*PLACE, "offset", "leader_epoch")
    audited = events.table("audit").select(*PLACE, "offset", "leader_epoch")
    return events.gathered(read.unionByName(audited)).filter(F.col("leader_epoch") >= 0)


def _overlapping(seen: DataFrame) -> DataFrame:
    """Return partitions in which an epoch begins before an earlier one has ended; few or none, and cheap to find."""
    earlier = Window.partitionBy(*PLACE).orderBy("leader_epoch").rowsBetween(Window.unboundedPreceding, -1)
    return (
        seen.groupBy(*PLACE, "leader_epoch")
        .agg(F.min("offset").alias("began"), F.max("offset").alias("ended"))
        .withColumn("reached", F.max("ended").over(earlier))
        .filter(F.col("began") < F.col("reached"))
        .select(*PLACE)
    )
