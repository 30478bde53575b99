"""Outcomes of sends, aggregated by cells of 0.25 s: much fewer rows, and sufficient for many checks."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.gaps import cell
from chaosk.analysis.frames.sends import sends

WRITER = ("producer", "producer_incarnation", *PLACE)
"""Columns that identify the sends of one process to one partition."""


def answered(events: Events) -> DataFrame:
    """Return one row per process, partition (None if the client chose none), outcome and cell (see ``frames.gaps``).

    A send counts in the cell of its ``over``: the time of its outcome or, without an outcome, its due time. Further
    columns: ``first`` and ``last`` (the earliest and the latest ``over``), ``due`` (due time of the earliest of them),
    ``high`` (the highest acknowledged offset; None without any).
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
