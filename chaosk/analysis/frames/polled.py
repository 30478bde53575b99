"""Deliveries aggregated by poll and partition: much fewer rows, and sufficient for many checks."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER

_POLL = (*MEMBER, *PLACE, "assignment", "group", "poll", "at")


def polled(events: Events) -> DataFrame:
    """Return one row per member, partition, assignment, poll and ``at`` (time of the delivery).

    Further columns: group, ``reader`` (the group, or the probe without one), ``low`` and ``high`` (the lowest and the
    highest offset), ``records`` (their number).
    """
    rows = _delivered(events.table("reads"), *_POLL) if events.small else _summed(events.frame(stretches))
    return rows.withColumn("reader", F.coalesce("group", "probe"))


def stretches(events: Events) -> DataFrame:
    """Return rows as ``polled``, with the deliveries of one poll divided by ``drift``: offset - n.

    A stretch that ``is_whole`` consists of consecutive offsets, delivered one right after the other.
    """
    drifting = events.table("reads").withColumn("drift", drift())
    return _delivered(drifting, *_POLL, "drift")


def drift() -> Column:
    """Return the difference between the offset of a delivery and its number."""
    return F.col("offset") - F.col("n")


def is_whole() -> Column:
    """Return a condition: the stretch has every offset between its lowest and its highest."""
    return F.col("records") == F.col("high") - F.col("low") + 1


def _delivered(rows: DataFrame, *keys: str) -> DataFrame:
    return rows.groupBy(*keys).agg(
        F.min("offset").alias("low"), F.max("offset").alias("high"), F.count("*").alias("records")
    )


def _summed(parts: DataFrame) -> DataFrame:
    return parts.groupBy(*_POLL).agg(
        F.min("low").alias("low"), F.max("high").alias("high"), F.sum("records").alias("records")
    )
