"""What each probe did in each window of the run, as small histograms: the ground of most measures and guards."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import VALUE
from chaosk.analysis.frames.deliveries import MEMBER, deliveries
from chaosk.analysis.frames.quantiles import bucket
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.windows import windows_and_all


def sent(events: Events) -> DataFrame:
    """Sends by probe, incarnation, window they were due in (and ``ALL``), outcome and bucket of latency.

    Columns ``count``, ``bucket`` (nanoseconds from the intended time to the outcome; None while open) and ``longest``.
    """
    windows = windows_and_all(events.case.windows, F.col("scheduled"))
    latency = F.col("completed") - F.col("scheduled")
    return (
        events.frame(sends)
        .select(
            F.col("producer").alias("probe"), F.col("producer_incarnation").alias("incarnation"), "outcome",
            latency.alias("latency"), F.explode(windows).alias("window"),
        )
        .groupBy("probe", "incarnation", "window", "outcome", bucket(F.col("latency")).alias("bucket"))
        .agg(F.count("*").alias("count"), F.max("latency").alias("longest"))
    )  # fmt: skip


def delivered(events: Events) -> DataFrame:
    """Records delivered by probe, incarnation and window they were delivered in (and ``ALL``): column ``count``."""
    windows = windows_and_all(events.case.windows, F.col("at"))
    return (
        events.table("reads")
        .select(*MEMBER, F.explode(windows).alias("window"))
        .groupBy(*MEMBER, "window")
        .agg(F.count("*").alias("count"))
    )


def polled(events: Events) -> DataFrame:
    """Polls by probe, incarnation and window they were made in (and ``ALL``), the empty ones too: column ``count``."""
    windows = windows_and_all(events.case.windows, F.col("invoked"))
    return (
        events.table("polls")
        .select(*MEMBER, F.explode(windows).alias("window"))
        .groupBy(*MEMBER, "window")
        .agg(F.count("*").alias("count"))
    )


def first_deliveries(events: Events) -> DataFrame:
    """One row per reader and value, its first delivery: ``probe`` (that got it), ``at``, ``scheduled``, ``completed``.

    Values whose send nobody wrote down (its probe was killed) are left out: nobody knows when they were due.
    """
    due = events.frame(sends).select(*VALUE, "scheduled", "completed")
    first = F.min(F.struct("at", "probe"))
    return (
        events.frame(deliveries)
        .filter("intact")
        .groupBy("reader", *VALUE)
        .agg(first.alias("first"))
        .join(due, on=list(VALUE), how="inner")
        .select("reader", *VALUE, "first.probe", "first.at", "scheduled", "completed")
    )


def received(events: Events) -> DataFrame:
    """First deliveries by probe, window their record was due in (and ``ALL``) and bucket of end-to-end latency."""
    windows = windows_and_all(events.case.windows, F.col("scheduled"))
    latency = F.col("at") - F.col("scheduled")
    return (
        events.frame(first_deliveries)
        .select("probe", latency.alias("latency"), F.explode(windows).alias("window"))
        .groupBy("probe", "window", bucket(F.col("latency")).alias("bucket"))
        .agg(F.count("*").alias("count"), F.max("latency").alias("longest"))
    )
