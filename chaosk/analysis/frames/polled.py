"""What each poll delivered of each partition: a fraction of the deliveries, and all that many questions need."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER

_POLL = (*MEMBER, *PLACE, "assignment", "group", "poll", "at")


def polled(events: Events) -> DataFrame:
    """One row per member, partition, assignment, poll and ``at``, when it delivered something.

    Columns: these, group, ``reader`` (the group, or the probe that has none), ``low`` and ``high`` (the lowest and the
    highest offset), ``records`` (how many).
    """
    rows = _delivered(events.table("reads"), *_POLL) if events.small else _summed(events.frame(stretches))
    return rows.withColumn("reader", F.coalesce("group", "probe"))


def stretches(events: Events) -> DataFrame:
    """The same, with what one poll delivered of a partition told apart by ``drift``: offset - n.

    A stretch that ``is_whole`` holds neighbours alone, delivered one right after the other.
    """
    drifting = events.table("reads").withColumn("drift", drift())
    return _delivered(drifting, *_POLL, "drift")


def drift() -> Column:
    """How far the offset of a delivery is from its number."""
    return F.col("offset") - F.col("n")


def is_whole() -> Column:
    """Whether a stretch lacks none of the offsets between its lowest and its highest."""
    return F.col("records") == F.col("high") - F.col("low") + 1


def _delivered(rows: DataFrame, *keys: str) -> DataFrame:
    return rows.groupBy(*keys).agg(
        F.min("offset").alias("low"), F.max("offset").alias("high"), F.count("*").alias("records")
    )


def _summed(parts: DataFrame) -> DataFrame:
    return parts.groupBy(*_POLL).agg(
        F.min("low").alias("low"), F.max("high").alias("high"), F.sum("records").alias("records")
    )
