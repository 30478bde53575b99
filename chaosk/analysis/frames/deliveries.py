"""Deliveries to consumers."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import PLACE

MEMBER = ("probe", "incarnation")
"""Columns that name one process of a consumer."""


@planned_once
def reads(events: Events) -> DataFrame:
    """One row per delivered record: the table, and ``reader``, the group or the probe that has none."""
    return events.table("reads").withColumn("reader", F.coalesce("group", "probe"))


def with_isolation(events: Events, rows: DataFrame) -> DataFrame:
    """Rows that name a member, with its isolation level."""
    workers = events.table("incarnations").select(*MEMBER, "isolation")
    return rows.join(events.near(workers), on=list(MEMBER), how="left").withColumn(
        "isolation", F.coalesce("isolation", F.lit("read_committed"))
    )


def without_seek(events: Events, rows: DataFrame) -> DataFrame:
    """The rows (of ``steps``) whose member did not seek in that partition since the delivery before."""
    seeks = events.table("seeks").select(*MEMBER, *PLACE, F.col("at").alias("sought"))
    between = [F.col(f"row.{name}") == F.col(f"seek.{name}") for name in (*MEMBER, *PLACE)]
    between.append(F.col("seek.sought").between(F.col("row.before_at"), F.col("row.at")))
    return rows.alias("row").join(events.near(seeks).alias("seek"), on=between, how="left_anti")
