"""Age of the next record of a consumer at each of its polls."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.figures import bucket
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.terms import TERM, terms
from chaosk.analysis.readers import at_the_end
from chaosk.analysis.windows import Segments

NEVER = 2**62
"""Time of a record that was never proven to exist."""


def lags(events: Events) -> DataFrame:
    """Return realtime lag: counts by probe, ``Segments`` and bucket (see ``figures``), and the longest.

    One value per poll of a member and partition that it owned then and knew its position in. It is the time in
    nanoseconds from when a record at that position or beyond was first proven to exist until the poll began; 0 if there
    was none. The position is one past the highest record given since the assignment. Before the first record it is the
    start: the committed offset, the offset sought, or the log start.
    """
    asked = _asked(events)
    in_turn = Window.partitionBy(*TERM).orderBy("time", "turn").rowsBetween(Window.unboundedPreceding, -1)
    marks = _since(events).select(*TERM, "time", F.lit(0).alias("turn"), "since")
    rows = marks.unionByName(asked.withColumn("turn", F.lit(1)), allowMissingColumns=True)
    lag = F.greatest(F.col("time") - F.col("ahead"), F.lit(0).cast("long"))
    segments = Segments(events.case.windows).of(F.col("time"))
    return (
        events.gathered(rows)
        .withColumn("ahead", F.max("since").over(in_turn))
        .filter((F.col("turn") == 1) & F.col("ahead").isNotNull())
        .withColumn("lag", lag)
        .groupBy("probe", *segments, bucket(F.col("lag")).alias("bucket"))
        .agg(F.count("*").alias("count"), F.max("lag").alias("longest"))
    )


def _asked(events: Events) -> DataFrame:
    """Return one row per poll and partition owned when it began: ``TERM``, time."""
    held = terms(events).select(*TERM, "given", F.coalesce("taken", F.lit(NEVER)).alias("taken"))
    return (
        events.table("polls")
        .select(*MEMBER, F.col("invoked").alias("time"))
        .join(events.near(held), on=list(MEMBER), how="inner")
        .filter((F.col("time") >= F.col("given")) & (F.col("time") < F.col("taken")))
        .select(*TERM, "time")
    )


def _positions(events: Events) -> DataFrame:
    """Return positions of members by time: ``TERM``, time, position (the next offset)."""
    read = events.frame(polled).select(*TERM, F.col("at").alias("time"), (F.col("high") + 1).alias("position"))
    held = terms(events)
    late = among(F.col("probe"), at_the_end(events.case))
    first = F.coalesce("found", F.when(~late, F.lit(0).cast("long")))
    begun = held.filter(F.col("asked").isNotNull() & first.isNotNull())
    begun = begun.select(*TERM, F.col("answered").alias("time"), first.alias("position"))
    alone = held.filter(F.col("group").isNull() & ~late)
    alone = alone.select(*TERM, F.col("given").alias("time"), F.lit(0).cast("long").alias("position"))
    return read.unionByName(begun).unionByName(alone).unionByName(_sought(events, held))


def _sought(events: Events, held: DataFrame) -> DataFrame:
    """Return positions that members sought, or were reset to, in their current term."""
    seeks = events.table("seeks").select(*MEMBER, *PLACE, F.col("at").alias("time"), F.col("offset").alias("position"))
    over = F.coalesce("taken", F.lit(NEVER))
    return (
        seeks.join(events.near(held), on=[*MEMBER, *PLACE], how="inner")
        .filter((F.col("time") >= F.col("given")) & (F.col("time") <= over))
        .select(*TERM, "time", "position")
    )


def _since(events: Events) -> DataFrame:
    """Return positions with ``since``: when a record there or beyond was first proven, ``NEVER`` if there was none."""
    acked = events.table("sends").filter((F.col("outcome") == "ok") & (F.col("offset") >= 0))
    read = events.frame(polled).select(*PLACE, F.col("high").alias("offset"), F.col("at").alias("proof"))
    shown = acked.select(*PLACE, "offset", F.col("completed").alias("proof")).unionByName(read)
    asked = _positions(events).withColumnRenamed("position", "offset")
    downward = Window.partitionBy(*PLACE).orderBy(F.desc("offset")).rangeBetween(Window.unboundedPreceding, 0)
    return (
        events.gathered(shown.unionByName(asked, allowMissingColumns=True))
        .withColumn("since", F.coalesce(F.min("proof").over(downward), F.lit(NEVER)))
        .filter(F.col("time").isNotNull())
        .select(*TERM, "time", "since")
    )
