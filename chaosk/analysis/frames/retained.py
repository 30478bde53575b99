"""What of each partition's log is still there, and how far the tail audit proves it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE

LEVELS = 2
"""Isolation levels that the audit reads at."""


def retained(events: Events) -> DataFrame:
    """One row per audited partition: what is left of its log, and how far the tail audit proves it.

    ``log_start``: the highest ever seen. ``began``: the lowest that a leader told, None if none told any. ``end``: the
    lower of the two audited ends, ``stored_end`` (the high watermark) and ``visible_end`` (the last stable offset, up
    to which read_committed reads). ``complete``: the audit read every offset below ``end`` at both isolation levels.
    ``trimmed``: records were deleted from the log's start while the run went on.
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
    """One row per partition whose log start anyone told: ``log_start``, the highest ever told."""
    told = events.table("offsets").filter("leader").select(*PLACE, "log_start")
    audited = events.table("audit_ranges").select(*PLACE, "log_start")
    return told.unionByName(audited).groupBy(*PLACE).agg(F.max("log_start").alias("log_start"))
