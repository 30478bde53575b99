"""How well each probe did, a quarter of a second at a time, for telling when it did well again."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import first_deliveries
from chaosk.analysis.frames.gaps import cell
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.sends import sends


def prompt_sends(events: Events, within: Mapping[str, int]) -> DataFrame:
    """By producer (``stream``) and cell in which records were due, how many, and how many came promptly.

    ``wanted`` are all, ``prompt`` those acknowledged ``within`` so many nanoseconds.
    """
    in_time = (F.col("outcome") == "ok") & (F.col("completed") - F.col("scheduled") <= _bound("producer", within))
    return (
        sends(events)
        .groupBy(F.col("producer").alias("stream"), cell("scheduled").alias("cell"))
        .agg(F.count("*").alias("wanted"), F.count_if(in_time).alias("prompt"))
    )


def prompt_deliveries(events: Events, within: Mapping[str, int]) -> DataFrame:
    """By reader (``stream``) and cell in which records were due, how many, and how many came promptly.

    ``wanted``: the written ones of the topics it reads. ``prompt``: those it was given ``within`` so many nanoseconds.
    """
    streams = events.frame(polled).select(F.col("reader").alias("stream"), "topic").distinct()
    wanted = (
        sends(events)
        .filter("written")
        .join(events.near(streams), on="topic", how="inner")
        .groupBy("stream", cell("scheduled").alias("cell"))
        .agg(F.count("*").alias("wanted"))
    )
    prompt = (
        first_deliveries(events)
        .withColumn("stream", F.col("reader"))
        .filter(F.col("at") - F.col("scheduled") <= _bound("stream", within))
        .groupBy("stream", cell("scheduled").alias("cell"))
        .agg(F.count("*").alias("prompt"))
    )
    return wanted.join(events.near(prompt), on=["stream", "cell"], how="left").select(
        "stream", "cell", "wanted", F.coalesce("prompt", F.lit(0)).alias("prompt")
    )


def under_replicated(events: Events) -> DataFrame:
    """The cells in which any broker named a partition without a leader or with less than all replicas in sync."""
    short = (F.size("isr") < F.size("replicas")) | (F.col("leader") < 0)
    return events.table("partitions").filter(short).select(cell("at").alias("cell")).distinct()


def _bound(stream: str, within: Mapping[str, int]) -> Column:
    bound = F.lit(0).cast("long")
    for name, nanoseconds in sorted(within.items()):
        bound = F.when(F.col(stream) == name, F.lit(nanoseconds)).otherwise(bound)
    return bound
