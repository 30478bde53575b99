"""What of each partition's log is still there, and how far the tail audit proves it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE

LEVELS = 2
"""Isolation levels that the audit reads at."""


def retained(events: Events) -> DataFrame:
    """One row per audited partition: ``log_start`` (the highest ever seen), ``end``, ``complete``, ``trimmed``.

    ``complete``: the audit read every offset below ``end`` at both isolation levels. ``trimmed``: records were deleted
    from the log's start while the run went on, so what lies below ``log_start`` cannot be judged.
    """
    audited = (
        events.table("audit_ranges")
        .groupBy(*PLACE)
        .agg(
            F.max("log_start").alias("audited_start"),
            F.min("end").alias("end"),
            (F.bool_and("complete") & (F.count_distinct("isolation") == LEVELS)).alias("complete"),
        )
    )
    sampled = (
        events.table("offsets")
        .filter("leader")
        .groupBy(*PLACE)
        .agg(F.min("log_start").alias("first_start"), F.max("log_start").alias("last_start"))
    )
    start = F.greatest("audited_start", F.coalesce("last_start", "audited_start"))
    return (
        audited.join(events.near(sampled), on=list(PLACE), how="left")
        .withColumn("log_start", start)
        .select(
            *PLACE, "log_start", "end", "complete",
            (F.coalesce("first_start", F.lit(0)) < F.col("log_start")).alias("trimmed"),
        )
    )  # fmt: skip


def starts(events: Events) -> DataFrame:
    """One row per partition whose log start anyone told: ``log_start``, the highest ever told."""
    told = events.table("offsets").filter("leader").select(*PLACE, "log_start")
    audited = events.table("audit_ranges").select(*PLACE, "log_start")
    return told.unionByName(audited).groupBy(*PLACE).agg(F.max("log_start").alias("log_start"))
