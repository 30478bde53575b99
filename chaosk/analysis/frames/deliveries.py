"""Deliveries to consumers, each beside the one before it in the same assignment."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import PLACE, VALUE

MEMBER = ("probe", "incarnation")
"""Columns that name one process of a consumer."""


@planned_once
def reads(events: Events) -> DataFrame:
    """One row per delivered record: the table, and ``reader``, the group or the probe that has none."""
    return events.table("reads").withColumn("reader", F.coalesce("group", "probe"))


@planned_once
def deliveries(events: Events) -> DataFrame:
    """One row per delivered record: member, group, reader, assignment, poll, n, place, offset, value, intact, at.

    ``before``, ``before_at`` and ``before_poll`` are offset, time and poll of the delivery before it of the same
    partition and assignment (None for the first).
    """
    in_turn = Window.partitionBy(*MEMBER, *PLACE, "assignment").orderBy("n")
    return (
        reads(events)
        .withColumn("before", F.lag("offset").over(in_turn))
        .withColumn("before_at", F.lag("at").over(in_turn))
        .withColumn("before_poll", F.lag("poll").over(in_turn))
        .select(
            *MEMBER, "group", "reader", "assignment", "poll", "n", *PLACE, "offset", *VALUE, "intact", "at", "before",
            "before_at", "before_poll",
        )
    )  # fmt: skip


def with_isolation(events: Events, rows: DataFrame) -> DataFrame:
    """Rows that name a member, with its isolation level."""
    workers = events.table("incarnations").select(*MEMBER, "isolation")
    return rows.join(events.near(workers), on=list(MEMBER), how="left").withColumn(
        "isolation", F.coalesce("isolation", F.lit("read_committed"))
    )


def without_seek(events: Events, rows: DataFrame) -> DataFrame:
    """The rows (of ``deliveries``) whose member did not seek in that partition since the delivery before."""
    seeks = events.table("seeks").select(*MEMBER, *PLACE, F.col("at").alias("sought"))
    between = [F.col(f"row.{name}") == F.col(f"seek.{name}") for name in (*MEMBER, *PLACE)]
    between.append(F.col("seek.sought").between(F.col("row.before_at"), F.col("row.at")))
    return rows.alias("row").join(events.near(seeks).alias("seek"), on=between, how="left_anti")
