"""Stretches of identical metadata answers of brokers."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.metadata_spans import HOLD, NONE

_WHAT = ("leader", "epoch", "preferred", "replicas", "isr")


def said(events: Events) -> DataFrame:
    """Return one row for each stretch of a broker's identical answers about a partition: see ``MetadataSpan``."""
    of_broker = Window.partitionBy(*PLACE, "asked").orderBy("at", *_WHAT)
    same = [F.col(name) == F.lag(name).over(of_broker) for name in _WHAT]
    soon = F.col("at") - F.lag("at").over(of_broker) <= HOLD
    for one in same:
        soon = soon & one
    following = F.lead("at").over(of_broker)
    stands = F.when(following - F.col("at") <= HOLD, following).otherwise(F.col("at"))
    return (
        events.table("partitions")
        .select(
            *PLACE, "asked", "at", "leader", F.coalesce("leader_epoch", F.lit(NONE)).alias("epoch"),
            F.coalesce(F.get("replicas", 0), F.lit(NONE)).alias("preferred"),
            F.size("replicas").alias("replicas"), F.size("isr").alias("isr"),
        )
        .withColumns({"fresh": F.coalesce(~soon, F.lit(True)).cast("int"), "stands": stands})
        .withColumn("stretch", F.sum("fresh").over(of_broker.rowsBetween(Window.unboundedPreceding, 0)))
        .groupBy(*PLACE, "asked", "stretch", *_WHAT)
        .agg(F.min("at").alias("began"), F.max("stands").alias("ended"), F.max("at").alias("last"))
        .select(*PLACE, "asked", "began", "ended", *_WHAT, "last")
    )  # fmt: skip
