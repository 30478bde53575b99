"""Deliveries to consumers."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import PLACE

MEMBER = ("probe", "incarnation")
"""Columns that identify one process of a consumer."""


@planned_once
def reads(events: Events) -> DataFrame:
    """Return one row per delivered record: the table with ``reader``, the group, or the probe without one."""
    return with_reader(events.table("reads"))


def with_reader(rows: DataFrame) -> DataFrame:
    """Add ``reader`` to rows of the table."""
    return rows.withColumn("reader", F.coalesce("group", "probe"))


def with_isolation(events: Events, rows: DataFrame) -> DataFrame:
    """Add the member's isolation level; read_committed if unknown."""
    workers = events.table("incarnations").select(*MEMBER, "isolation")
    return rows.join(events.near(workers), on=list(MEMBER), how="left").withColumn(
        "isolation", F.coalesce("isolation", F.lit("read_committed"))
    )


def without_seek(events: Events, rows: DataFrame) -> DataFrame:
    """Return rows (of ``steps``) whose member did not seek in that partition since the previous delivery."""
    seeks = events.table("seeks").select(*MEMBER, *PLACE, F.col("at").alias("sought"))
    between = [F.col(f"row.{name}") == F.col(f"seek.{name}") for name in (*MEMBER, *PLACE)]
    between.append(F.col("seek.sought").between(F.col("row.before_at"), F.col("row.at")))
    return rows.alias("row").join(events.near(seeks).alias("seek"), on=between, how="left_anti")
