"""Elections of other leaders, which may void an acknowledgement of one leader alone."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.acknowledged_epochs import with_served
from chaosk.analysis.frames.truncations import SURE
from chaosk.analysis.unflushed import losing

ALONE = "acks is not all: the leader alone had it, and another one was elected"
"""Reason why a record that such a leader acknowledged may have been replaced."""
_MARGIN = 1_000_000_000
"""Nanoseconds by which the ISR in a broker's metadata may be older than the sample of it."""
UNWATCHED = "acks is not all, and no sample names the partition's leader"


def with_elections(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``watched``, and ``elected``: when another leader than the first was first named.

    ``elected`` is in monotonic nanoseconds of the watcher's samples; None without such an election (see ``elections``).
    ``watched`` is None if no sample names a leader.
    """
    named = events.frame(elections).filter(F.col("leader") >= 0)
    later = F.when(F.col("other"), F.col("named"))
    seen = named.groupBy(*PLACE).agg(F.min(later).alias("elected"), F.lit(True).alias("watched"))
    return rows.join(events.near(seen), on=list(PLACE), how="left")


def given_way(alone: Column, elected: Column) -> Iterator[tuple[Column, str, str]]:
    """Yield cases for ``meaning`` of rows that one leader ``alone`` acknowledged.

    Allowed if another leader is known to be ``elected``; unproven if no sample names a leader.
    """
    yield alone & elected, "allowed", ALONE
    yield alone & F.col("watched").isNull(), "unproven", UNWATCHED


def elected_by(time: Column) -> Column:
    """Return a condition: another leader had been elected by a time."""
    return F.coalesce(F.col("elected") <= time + F.lit(SURE), F.lit(False))


def with_leaders(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``deposed``: True if the record may have been sent to a leader that was replaced.

    This is possible if another leader was named after the send, or shortly before. It is also possible if a broker
    still named itself as leader at an older epoch then: a broker that is cut off still acknowledges ``acks=1``. It is
    not possible if the newest leader had acknowledged a record to the same producer before the send, and no older
    leader named itself after that. Also adds ``served_epoch`` and ``served_since`` (``frames.acknowledged_epochs``).
    """
    newest = F.max(F.when(F.col("other"), F.col("leader_epoch"))).over(Window.partitionBy(*PLACE))
    changed = (
        events.frame(elections)
        .withColumn("newest", newest)
        .filter(F.col("leader_epoch") <= F.col("newest"))
        .groupBy(*PLACE, "newest")
        .agg(
            F.max(F.when(F.col("leader_epoch") == F.col("newest"), F.col("named"))).alias("changed"),
            F.max(F.when(F.col("leader_epoch") < F.col("newest"), F.col("held"))).alias("held"),
        )
    )
    about_then = F.col("invoked") - F.lit(SURE)
    later = F.greatest("changed", "held") >= about_then
    still_there = F.coalesce((F.col("held") > F.col("served_since")) & (F.col("held") >= about_then), F.lit(False))
    renewed = F.coalesce(F.col("served_epoch") >= F.col("newest"), F.lit(False)) & ~still_there
    return (
        with_served(events, rows)
        .join(events.near(changed), on=list(PLACE), how="left")
        .withColumn("deposed", F.coalesce(later, F.lit(False)) & ~renewed)
        .drop("newest", "changed", "held")
    )


def elections(events: Events) -> DataFrame:
    """Return one row per leader epoch in the watcher's samples: place, leader_epoch, leader, named, held, other.

    ``leader`` is -1 if there was none, ``named`` the first time of its leader, and ``held`` the last time at which the
    leader named itself. ``other``: the log may have been continued by another replica than in the epoch before. A
    leader that is elected again in its own place truncates nothing, unless its host had lost unflushed data. An epoch
    that no sample shows may have had another leader.
    """
    in_order = Window.partitionBy(*PLACE).orderBy("leader_epoch")
    led = F.col("leader") >= 0
    before = F.last(F.when(led, F.struct("leader", "leader_epoch", "number")), ignorenulls=True).over(
        in_order.rowsBetween(Window.unboundedPreceding, -1)
    )
    unseen = F.col("leader_epoch") - F.col("before.leader_epoch") > F.col("number") - F.col("before.number")
    forgetful = F.col("leader").isin(sorted(losing(events.case)))
    other = (F.col("leader") != F.col("before.leader")) | unseen | forgetful
    return (
        events.table("partitions")
        .filter(F.col("leader_epoch").isNotNull())
        .groupBy(*PLACE, "leader_epoch")
        .agg(
            F.max("leader").alias("leader"),
            F.min(F.when(led, F.col("at"))).alias("named"),
            F.max(F.when(led & (F.col("leader") == F.col("asked")), F.col("at"))).alias("held"),
        )
        .withColumn("number", F.row_number().over(in_order))
        .withColumn("before", before)
        .withColumn("other", led & F.coalesce(other, F.lit(False)))
        .drop("number", "before")
    )


def with_replicated(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``replicated``: True if the leader that a record was sent to reported a high watermark beyond it.

    Records with ``acks=all`` and records that were read are skipped. All in-sync replicas have the records below the
    high watermark, so no election among them removes one. Only reports before the next leader was named count, since
    the next leader may have another record at the same offset. If the leader was alone in sync, its high watermark is
    the end of its own log. So a report counts only if another replica was in sync after it, or no sample from then on
    has the leader alone.
    """
    others = F.size("isr") > 1
    named = _told(events).groupBy(*PLACE, "leader_epoch").agg(
        F.min("at").alias("named"), F.first("leader").alias("by"), F.max(F.when(others, F.col("at"))).alias("shared"),
        F.max(F.when(~others & (F.size("isr") > 0), F.col("at"))).alias("alone"),
    )  # fmt: skip
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
            F.max_by(
                F.when(earlier, F.struct("epoch.by", "epoch.shared", "epoch.alone")),
                F.when(earlier, F.col("epoch.named")),
            ).alias("led"),
            F.min(F.when(~earlier, F.col("epoch.named"))).alias("until"),
        )
        .select(*VALUE, *PLACE, "offset", "invoked", "until", "led.*")
    )
    told = events.table("offsets").filter("leader").select(*PLACE, "asked", "high_watermark", "at")
    same = [F.col(f"row.{name}") == F.col(f"told.{name}") for name in PLACE]
    same += [F.col("told.asked") == F.col("row.by"), F.col("told.high_watermark") > F.col("row.offset")]
    same += [F.col("told.at") >= F.col("row.invoked"), F.col("told.at") < F.col("row.until")]
    still_shared = F.coalesce(F.col("row.shared") >= F.col("told.at") + F.lit(_MARGIN), F.lit(False))
    never_alone = F.col("row.alone").isNull() | (F.col("row.alone") < F.col("told.at") - F.lit(SURE))
    same.append(still_shared | never_alone)
    known = led.alias("row").join(events.near(told).alias("told"), on=same, how="left_semi")
    marked = known.select(*VALUE, F.lit(True).alias("replicated"))
    return rows.join(events.near(marked), on=list(VALUE), how="left").withColumn(
        "replicated", F.coalesce("replicated", F.lit(False))
    )


def _told(events: Events) -> DataFrame:
    """Return the watcher's samples that name a leader and its epoch."""
    return events.table("partitions").filter(F.col("leader_epoch").isNotNull() & (F.col("leader") >= 0))
