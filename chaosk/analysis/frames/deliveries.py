"""Deliveries to consumers, and those that do not follow the one before them in the same assignment."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import PLACE

MEMBER = ("probe", "incarnation")
"""Columns that name one process of a consumer."""


_BEFORE = {"": "offset", "_at": "at", "_poll": "poll"}


@planned_once
def reads(events: Events) -> DataFrame:
    """One row per delivered record: the table, and ``reader``, the group or the probe that has none."""
    return events.table("reads").withColumn("reader", F.coalesce("group", "probe"))


@planned_once
def steps(events: Events) -> DataFrame:
    """One row per delivery whose offset is not the next one after that of the delivery before it.

    Before it in the same partition and assignment of that member; the first delivery is none. Columns: member, group,
    assignment, poll, n, place, offset, at; ``before``, ``before_at`` and ``before_poll`` are offset, time and poll of
    the one before. Terms are told apart by a hash of 64 bits, because longs are sorted quicker than names.
    """
    in_turn = Window.partitionBy("term").orderBy("n")
    return (
        events.table("reads")
        .select(
            *MEMBER, "group", *PLACE, "assignment", "poll", "n", "offset", "at",
            F.xxhash64(*MEMBER, *PLACE, "assignment").alias("term"),
        )
        .withColumns({f"before{name}": F.lag(of).over(in_turn) for name, of in _BEFORE.items()})
        .filter(F.col("offset") != F.col("before") + 1)
        .drop("term")
    )  # fmt: skip


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
