"""Partitions that another leader took over: the witness that an acknowledgement by one leader alone may be void."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.truncations import SURE

ALONE = "acks is not all: the leader alone had it, and another one was elected"
"""Why a record that such a leader acknowledged may have given way to another one."""
UNWATCHED = "acks is not all, and nobody saw who led the partition"


def with_elections(events: Events, rows: DataFrame) -> DataFrame:
    """The rows with ``watched``, and with ``elected``: when a later leader epoch than the first was first named.

    Monotonic nanoseconds, as the watcher's samples tell of their partition; None if none was. ``watched`` is None where
    they tell of no leader at all.
    """
    epochs = _told(events).withColumn("oldest", F.min("leader_epoch").over(Window.partitionBy(*PLACE)))
    later = F.when(F.col("leader_epoch") > F.col("oldest"), F.col("at"))
    seen = epochs.groupBy(*PLACE).agg(F.min(later).alias("elected"), F.lit(True).alias("watched"))
    return rows.join(events.near(seen), on=list(PLACE), how="left")


def given_way(alone: Column, elected: Column) -> Iterator[tuple[Column, str, str]]:
    """For ``meaning``: rows that one leader ``alone`` acknowledged, by whether another one is known to be ``elected``.

    Allowed where one is; open where nobody saw.
    """
    yield alone & elected, "allowed", ALONE
    yield alone & F.col("watched").isNull(), "unproven", UNWATCHED


def elected_by(time: Column) -> Column:
    """Whether another leader had been elected by a time."""
    return F.coalesce(F.col("elected") <= time + F.lit(SURE), F.lit(False))


def with_leaders(events: Events, rows: DataFrame) -> DataFrame:
    """The rows with ``deposed``: whether the record may have been sent to a leader that another one followed.

    So it may where a new leader epoch was named after it was sent, or shortly before, or where a broker went on to name
    itself as leader at an older epoch until then: one that was cut off from its cluster acknowledges ``acks=1`` on.
    """
    here = Window.partitionBy(*PLACE)
    by_itself = F.when(F.col("leader") == F.col("asked"), F.col("at"))
    changed = (
        _told(events)
        .groupBy(*PLACE, "leader_epoch")
        .agg(F.min("at").alias("named"), F.max(by_itself).alias("held"))
        .withColumns({"newest": F.max("leader_epoch").over(here), "oldest": F.min("leader_epoch").over(here)})
        .filter(F.col("newest") > F.col("oldest"))
        .groupBy(*PLACE)
        .agg(
            F.max(F.when(F.col("leader_epoch") == F.col("newest"), F.col("named")).otherwise(F.col("held"))).alias(
                "changed"
            )
        )
    )
    later = F.coalesce(F.col("changed") >= F.col("invoked") - F.lit(SURE), F.lit(False))
    return rows.join(events.near(changed), on=list(PLACE), how="left").withColumn("deposed", later).drop("changed")


def _told(events: Events) -> DataFrame:
    """Samples of the watcher's that name a leader and its epoch."""
    return events.table("partitions").filter(F.col("leader_epoch").isNotNull() & (F.col("leader") >= 0))
