"""What became of sends, a quarter of a second at a time: a fraction of them, and all that many questions need."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.gaps import cell
from chaosk.analysis.frames.sends import sends

WRITER = ("producer", "producer_incarnation", *PLACE)
"""Columns that name the sends of one process to one partition."""


def answered(events: Events) -> DataFrame:
    """One row per process, partition (None where the client chose none), outcome and cell, see ``frames.gaps``.

    Sends count in the cell of their ``over``: when their outcome was known, or, where it never was, when they were due.
    Columns: these, ``first`` and ``last`` (the earliest and the latest ``over``), ``due`` (when the earliest of them
    was due), ``high`` (the highest offset that an acknowledgement named; None if none did).
    """
    over = F.coalesce("completed", "scheduled")
    return (
        sends(events)
        .withColumn("over", over)
        .groupBy(*WRITER, "outcome", cell("over").alias("cell"))
        .agg(
            F.min("over").alias("first"), F.max("over").alias("last"), F.min("scheduled").alias("due"),
            F.max("offset").alias("high"),
        )
    )  # fmt: skip
