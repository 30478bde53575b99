"""What each poll delivered of each partition: a fraction of the deliveries, and all that many questions need."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER


def polled(events: Events) -> DataFrame:
    """One row per member, partition, assignment, poll and ``at``, when it delivered something.

    Columns: these, group, ``reader`` (the group, or the probe that has none), ``low`` and ``high`` (the lowest and the
    highest offset), ``records`` (how many).
    """
    return (
        events.table("reads")
        .groupBy(*MEMBER, *PLACE, "assignment", "group", "poll", "at")
        .agg(F.min("offset").alias("low"), F.max("offset").alias("high"), F.count("*").alias("records"))
        .withColumn("reader", F.coalesce("group", "probe"))
    )
