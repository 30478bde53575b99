"""Partitions that another leader took over: the witness that an acknowledgement by one leader alone may be void."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
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


def with_replicated(events: Events, rows: DataFrame) -> DataFrame:
    """The rows with ``replicated``: whether the leader that a record was sent to told a high watermark beyond it.

    It is not asked of records with ``acks=all``, nor of those that were read.

    All in-sync replicas have what lies below the high watermark, so no election among them takes it away. Only what was
    told before the next leader was named counts: the same offset may be another record of that one's.
    """
    named = _told(events).groupBy(*PLACE, "leader_epoch").agg(F.min("at").alias("named"), F.first("leader").alias("by"))
    epochs = events.near(named).alias("epoch")
    here = [F.col(f"row.{name}") == F.col(f"epoch.{name}") for name in PLACE]
    earlier = F.col("epoch.named") <= F.col("row.invoked")
    led = (
        rows.filter(~F.col("read") & (F.col("acks") != -1))
        .select(*VALUE, *PLACE, "offset", "invoked")
        .alias("row")
        .join(epochs, on=here, how="inner")
        .groupBy(*(F.col(f"row.{name}") for name in (*VALUE, *PLACE, "offset", "invoked")))
        .agg(
            F.max_by(F.when(earlier, F.col("epoch.by")), F.when(earlier, F.col("epoch.named"))).alias("by"),
            F.min(F.when(~earlier, F.col("epoch.named"))).alias("until"),
        )
    )
    told = events.table("offsets").filter("leader").select(*PLACE, "asked", "high_watermark", "at")
    same = [F.col(f"row.{name}") == F.col(f"told.{name}") for name in PLACE]
    same += [F.col("told.asked") == F.col("row.by"), F.col("told.high_watermark") > F.col("row.offset")]
    same += [F.col("told.at") >= F.col("row.invoked"), F.col("told.at") < F.col("row.until")]
    known = led.alias("row").join(events.near(told).alias("told"), on=same, how="left_semi")
    marked = known.select(*VALUE, F.lit(True).alias("replicated"))
    return rows.join(events.near(marked), on=list(VALUE), how="left").withColumn(
        "replicated", F.coalesce("replicated", F.lit(False))
    )


def _told(events: Events) -> DataFrame:
    """Samples of the watcher's that name a leader and its epoch."""
    return events.table("partitions").filter(F.col("leader_epoch").isNotNull() & (F.col("leader") >= 0))
