"""Remaining range of each partition's log, and the range that the tail audit covers."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE

LEVELS = 2
"""Number of isolation levels at which the audit reads."""


def retained(events: Events) -> DataFrame:
    """Return one row per audited partition: the remaining range of its log, and the range that the tail audit covers.

    ``log_start``: the highest ever seen. ``began``: the lowest one reported by a leader, None if there is none.
    ``end``: the lower of the two audited ends, ``stored_end`` (the high watermark) and ``visible_end`` (the last stable
    offset, up to which read_committed reads). ``complete``: the audit read every offset below ``end`` at both isolation
    levels. ``trimmed``: records were deleted from the log's start during the run.
    """
    careful = F.col("isolation") == "read_committed"
    audited = (
        events.table("audit_ranges")
        .groupBy(*PLACE)
        .agg(
            F.max("log_start").alias("audited_start"),
            F.min("end").alias("end"),
            F.min(F.when(~careful, F.col("end"))).alias("stored_end"),
            F.min(F.when(careful, F.col("end"))).alias("visible_end"),
            (F.bool_and("complete") & (F.count_distinct("isolation") == LEVELS)).alias("complete"),
        )
    )
    sampled = (
        events.table("offsets")
        .filter("leader")
        .groupBy(*PLACE)
        .agg(F.min("log_start").alias("began"), F.max("log_start").alias("last_start"))
    )
    start = F.greatest("audited_start", F.coalesce("last_start", "audited_start"))
    return (
        audited.join(events.near(sampled), on=list(PLACE), how="left")
        .withColumn("log_start", start)
        .select(
            *PLACE, "log_start", "began", "end", "stored_end", "visible_end", "complete",
            (F.coalesce("began", F.lit(0)) < F.col("log_start")).alias("trimmed"),
        )
    )  # fmt: skip


def starts(events: Events) -> DataFrame:
    """Return one row per partition with a known log start: ``log_start``, the highest ever reported."""
    told = events.table("offsets").filter("leader").select(*PLACE, "log_start")
    audited = events.table("audit_ranges").select(*PLACE, "log_start")
    return told.unionByName(audited).groupBy(*PLACE).agg(F.max("log_start").alias("log_start"))
