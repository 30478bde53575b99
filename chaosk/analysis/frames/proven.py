"""Offsets that each log is proven to have reached, from clients' evidence, by cells of 0.25 s."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.answered import answered
from chaosk.analysis.frames.gaps import CELL, cell
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.sends import with_settings

_AFTER = 60_000_000_000
"""Nanoseconds after the run's end that the frame covers."""
_FEW = 1_000_000
"""Number of rows of the frame that every worker can hold."""


def proven(events: Events) -> DataFrame:
    """Return per partition and cell of time the highest offset that was proven to be there before the cell began.

    ``firm``: by a delivery, or by an acknowledgement with acks=all, at ``firm_at``. ``told``: also by any
    acknowledgement. Cells are those of ``frames.gaps``. Cells before any proof have no row, and every later cell has
    one.
    """
    shown = _shown(events).groupBy(*PLACE, cell("at").alias("known")).agg(
        F.max(F.when(F.col("firm"), F.col("offset"))).alias("offset"),
        F.max(F.when(F.col("firm"), F.col("at"))).alias("at"),
        F.max("offset").alias("told"),
    )  # fmt: skip
    in_order = Window.partitionBy(*PLACE).orderBy("known")
    firm = F.max(F.when(F.col("offset").isNotNull(), F.struct("offset", "at"))).over(in_order)
    following = F.coalesce(F.lead("known").over(in_order), F.lit(_last_cell(events.case)))
    return (
        shown.withColumns({"best": firm, "furthest": F.max("told").over(in_order), "following": following})
        .withColumn("cell", F.explode(F.sequence(F.col("known") + 1, F.greatest("following", F.col("known") + 1))))
        .select(
            *PLACE, "cell", F.col("best.offset").alias("firm"), F.col("best.at").alias("firm_at"),
            F.col("furthest").alias("told"),
        )
    )  # fmt: skip


def by_then(events: Events, rows: DataFrame, time: str) -> DataFrame:
    """Add to rows that name a partition the offsets proven before the cell of their ``time``: firm, firm_at, told.

    Rows of times before any proof are dropped.
    """
    known = events.frame(proven).withColumnRenamed("cell", "at_cell")
    record, partitions = events.case.record, sum(shape.partitions for shape in events.case.topics.values())
    few = partitions * (record.ended - record.began + _AFTER) // CELL <= _FEW
    known = events.near(known) if events.small or few else known
    return rows.withColumn("at_cell", cell(time)).join(known, on=[*PLACE, "at_cell"], how="inner").drop("at_cell")


def _shown(events: Events) -> DataFrame:
    """Return the offsets in acknowledgements and deliveries, also of foreign records, and when they were known."""
    told = events.frame(answered).filter((F.col("outcome") == "ok") & F.col("high").isNotNull())
    acknowledged = with_settings(events, told).select(
        *PLACE,
        F.col("high").alias("offset"),
        F.col("last").alias("at"),
        (F.coalesce("acks", F.lit(1)) == -1).alias("firm"),
    )
    read = events.frame(polled).select(*PLACE, F.col("high").alias("offset"), "at", F.lit(True).alias("firm"))
    return acknowledged.unionByName(read).filter(F.col("at").isNotNull())


def _last_cell(case: Case) -> int:
    return (max(case.record.ended, *(span.ended for span in case.phases), 0) + _AFTER) // CELL
