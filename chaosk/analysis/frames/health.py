"""Promptness of each probe by cells of 0.25 s, from which recovery is determined."""

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
    """Return by producer (``stream``) and cell of the due time: ``wanted`` and ``prompt``.

    ``wanted`` counts all records, ``prompt`` those acknowledged ``within`` the producer's bound in nanoseconds.
    """
    in_time = (F.col("outcome") == "ok") & (F.col("completed") - F.col("scheduled") <= _bound("producer", within))
    return (
        sends(events)
        .groupBy(F.col("producer").alias("stream"), cell("scheduled").alias("cell"))
        .agg(F.count("*").alias("wanted"), F.count_if(in_time).alias("prompt"))
    )


def prompt_deliveries(events: Events, within: Mapping[str, int]) -> DataFrame:
    """Return by reader (``stream``) and cell of the due time: ``wanted`` and ``prompt``.

    ``wanted`` counts the written records of the topics it reads, ``prompt`` those given to it ``within`` its bound in
    nanoseconds.
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
    """Return cells in which any broker named a partition without a leader or with a replica out of sync."""
    short = (F.size("isr") < F.size("replicas")) | (F.col("leader") < 0)
    return events.table("partitions").filter(short).select(cell("at").alias("cell")).distinct()


def _bound(stream: str, within: Mapping[str, int]) -> Column:
    bound = F.lit(0).cast("long")
    for name, nanoseconds in sorted(within.items()):
        bound = F.when(F.col(stream) == name, F.lit(nanoseconds)).otherwise(bound)
    return bound
