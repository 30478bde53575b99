"""Stretches in which brokers named themselves as leaders."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.metadata_spans import HOLD

_CLAIM = (*PLACE, "broker", "epoch")


def claims(events: Events) -> DataFrame:
    """Return stretches in which a broker named itself as leader at one epoch: place, broker, epoch, began, ended.

    A stretch lasts from the first such answer to the last one, without a pause of more than ``HOLD``.
    """
    of_broker = Window.partitionBy(*_CLAIM).orderBy("at")
    again = F.coalesce(F.col("at") - F.lag("at").over(of_broker) > HOLD, F.lit(True))
    return (
        events.table("partitions")
        .filter((F.col("leader") == F.col("asked")) & F.col("leader_epoch").isNotNull())
        .select(*PLACE, F.col("asked").alias("broker"), F.col("leader_epoch").alias("epoch"), "at")
        .withColumn("again", again.cast("int"))
        .withColumn("stretch", F.sum("again").over(of_broker.rowsBetween(Window.unboundedPreceding, 0)))
        .groupBy(*_CLAIM, "stretch")
        .agg(F.min("at").alias("began"), F.max("at").alias("ended"))
        .select(*_CLAIM, "began", "ended")
    )
