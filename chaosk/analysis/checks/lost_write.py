"""Acknowledged records that a reader passed and no reader was given."""

from __future__ import annotations

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.debts import debts
from chaosk.analysis.frames.deliveries import without_seek
from chaosk.analysis.frames.retained import LEVELS, retained, starts
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.steps import steps
from chaosk.analysis.frames.takeovers import ALONE, with_leaders
from chaosk.analysis.frames.truncations import Truncation, excused
from chaosk.analysis.frames.values import values
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.observed_settings import compacted


class LostWrite(Check):
    """A record was acknowledged, a reader passed its offset after that, and no reader ever had it.

    A3, after the definitions of Jepsen's Kafka workload (``lost-write``). It needs no audit, so only partitions without
    a complete audit are judged; elsewhere ``lost`` judges more accurately. A consumer passed the record if it was given
    a record before it and one after it, in one assignment and without a seek. It also passed it if its first record is
    beyond it and its start position is not. A record that another reader, or an incomplete audit, saw is not lost: the
    consumer skipped it, which is ``poll_skip``. Offsets below the log start and compacted topics are not judged.
    Allowed are the same losses as in ``lost``.

    Columns: the value, topic, partition, offset (as acknowledged), before and next (offsets given to the reader that
    passed it), acks.
    """

    rule = "A3"
    title = "acknowledged records that a reader passed and no reader was given"
    counted = ("acknowledged record that no reader was given", "acknowledged records that no reader was given")
    tables = ("sends", "reads", "audit", "audit_ranges", "offsets", "seeks", "incarnations", "transactions")
    by_absence_of = ("reads", "audit", "offsets", "seeks")
    order = (*PLACE, "offset", *VALUE)
    screens = ("missing",)
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def glance(self, rows: EventRows) -> bool:
        """Return True if a reader passed an acknowledged record that was never seen, and no audit is complete there."""
        places, offsets = rows.places("sends"), rows.column("sends", "offset")
        seen = np.concatenate([rows.values("reads"), rows.values("audit")])
        unseen = (rows.column("sends", "outcome") == rows.code("outcome", "ok")) & (offsets >= 0)
        unseen &= ~np.isin(rows.values("sends"), seen)
        read_places, read = rows.places("reads"), rows.column("reads", "offset")
        for place in np.unique(places[unseen]):
            lowest = offsets[unseen & (places == place)].min()
            if lowest < read[read_places == place].max(initial=EMPTY) and not _audited(rows, int(place)):
                return True
        return False

    def violations(self, events: Events) -> DataFrame:
        """Return written values that were passed and never seen."""
        topics = [topic for topic in events.case.topics if not compacted(events.case, topic)]
        audited = events.frame(retained).filter("complete").select(*PLACE)
        owed = (
            events.frame(values)
            .filter(F.col("written") & ~F.col("read") & ~F.col("audited") & F.col("acked").isNotNull())
            .filter(among(F.col("topic"), topics))
            .join(events.near(audited), on=list(PLACE), how="left_anti")
            .join(events.near(starts(events)), on=list(PLACE), how="left")
            .filter(F.col("offset") >= F.coalesce("log_start", F.lit(0)))
            .select(*VALUE, *PLACE, "offset", "invoked", "completed")
        )
        return (
            with_leaders(events, with_settings(events, _passed(events, owed)))
            .withColumns(
                meaning(
                    *excused(events, F.col("offset"), F.col("completed"), also=_by_old_leader),
                    (F.col("acks") == 0, "allowed", "acks is 0: no broker had acknowledged it"),
                    ((F.col("acks") != -1) & F.col("deposed"), "allowed", ALONE),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(*MEANING, *VALUE, *PLACE, "offset", "before", "next", "acks")
        )


def _by_old_leader(cut: Truncation) -> Column:
    """Return a condition: the record may have been acknowledged by the leader before a truncation."""
    return ~cut.renewed(F.col("served_epoch"))


def _passed(events: Events, owed: DataFrame) -> DataFrame:
    """Return values whose offset a reader passed after their acknowledgement; it read ``before`` and ``next``.

    Of the jumps that begin before an offset, the one that reaches furthest passes it, if any does. Jumps have a null
    offset, which excludes them from the result.
    """
    jumps = without_seek(events, events.frame(steps).filter(F.col("offset") > F.col("before") + 1))
    jumps = jumps.select(*PLACE, "before", "offset", "at").unionByName(_first_steps(events))
    jump = F.struct(F.col("offset").alias("next"), F.col("at").alias("passed_at"), "before").alias("jump")
    along = Window.partitionBy(*PLACE).orderBy("place", F.col("jump").isNotNull())
    return (
        owed.withColumn("place", F.col("offset"))
        .unionByName(jumps.select(*PLACE, F.col("before").alias("place"), jump), allowMissingColumns=True)
        .withColumn("furthest", F.max("jump").over(along))
        .filter(F.col("furthest.next") > F.col("offset"))
        .filter(F.col("furthest.passed_at") >= F.col("completed"))
        .select(*VALUE, *PLACE, "offset", "invoked", "completed", "furthest.before", "furthest.next")
    )


def _first_steps(events: Events) -> DataFrame:
    """Return the step of each reader from its start to its first record; ``before`` is one below the start."""
    begun = events.frame(debts).filter(F.col("start") < F.col("lowest"))
    return begun.select(
        *PLACE, (F.col("start") - 1).alias("before"), F.col("lowest").alias("offset"), F.col("first_at").alias("at")
    )


def _audited(rows: EventRows, place: int) -> bool:
    """Return True if the partition was audited completely at both levels."""
    mine = rows.places("audit_ranges") == place
    levels, complete = (column[mine] for column in rows.columns("audit_ranges", "isolation", "complete"))
    return np.unique(levels).size == LEVELS and bool((complete == 1).all())
