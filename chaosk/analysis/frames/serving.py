"""Who served partitions, one leader epoch after another: by their own answers, and by records written under them."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE

TERM = (*PLACE, "epoch")
"""Columns that name the time in which a broker led a partition."""
MARGIN = 1_000_000_000
"""Nanoseconds on either side of a change of leader in which its records are looked for besides."""
_ENDLESS = 2**62


@planned_once
def named(events: Events) -> DataFrame:
    """One row per leader epoch that any broker named: ``TERM``, leader (-1: nobody named one), named (since when)."""
    last = F.struct(F.col("leader") >= 0, "at")
    return (
        events.table("partitions")
        .filter(F.col("leader_epoch").isNotNull())
        .groupBy(*PLACE, F.col("leader_epoch").alias("epoch"))
        .agg(F.max_by("leader", last).alias("leader"), F.min("at").alias("named"))
    )


def answers(events: Events) -> DataFrame:
    """One row per answer to a question for offsets that only a leader gives: ``TERM``, at.

    The epoch is the one that the broker itself named right before, itself as its leader; of a broker that was never
    asked for it, the one at which others named it last. A new leader that has no offset to tell yet (KIP-207) does not
    serve yet.
    """
    serves = F.col("leader") & (F.col("high_watermark").isNotNull() | F.col("log_end").isNull())
    asked = events.table("offsets").filter(serves).select(*PLACE, F.col("asked").alias("broker"), "at")
    said = events.table("partitions").select(*PLACE, "asked", "leader", "at", F.col("leader_epoch").alias("epoch"))
    own = said.withColumnRenamed("asked", "broker").withColumn("own", F.struct("leader", "epoch")).drop("leader")
    others = said.filter(F.col("asked") != F.col("leader")).withColumnRenamed("leader", "broker")
    until = Window.partitionBy(*PLACE, "broker").orderBy("at", F.col("question"))
    view, other = F.last("own", ignorenulls=True).over(until), F.last("other", ignorenulls=True).over(until)
    epoch = F.when(F.col("view").isNull(), F.col("by_others")).when(
        F.col("view.leader") == F.col("broker"), F.col("view.epoch")
    )
    return (
        asked.withColumn("question", F.lit(True))
        .unionByName(own.drop("epoch"), allowMissingColumns=True)
        .unionByName(others.withColumnRenamed("epoch", "other").drop("asked"), allowMissingColumns=True)
        .withColumns({"question": F.coalesce("question", F.lit(False))})
        .withColumns({"view": view, "by_others": other})
        .filter("question")
        .withColumn("epoch", epoch)
        .filter(F.col("epoch").isNotNull())
        .select(*TERM, "at")
    )


def terms(events: Events) -> DataFrame:
    """One row per leader epoch under which somebody served: ``TERM``, leader, since.

    ``since`` is the first sign that the leader served: it answered for offsets as a leader does, or a record that was
    written under its epoch was acknowledged or delivered. One that gave no sign is left out: it was elected, and nobody
    could use it. In runs that do not tell whom the watcher asked (no rows in ``brokers``), such a one serves from when
    anyone first named it.
    """
    signs = (
        events.frame(answers).select(*TERM, "at")
        .unionByName(events.frame(written).select(*TERM, F.col("completed").alias("at")))
        .unionByName(_delivered(events))
        .groupBy(*TERM)
        .agg(F.min("at").alias("first"))
    )  # fmt: skip
    asked = events.table("brokers").select(F.col("asked").alias("leader")).distinct().withColumn("known", F.lit(True))
    since = F.coalesce("first", F.when(F.col("known").isNull(), F.col("named")))
    return (
        named(events)
        .filter(F.col("leader") >= 0)
        .join(events.near(signs), on=list(TERM), how="left")
        .join(events.near(asked), on="leader", how="left")
        .withColumn("since", since)
        .filter(F.col("since").isNotNull())
        .select(*TERM, "leader", "since")
    )


def last_signs(events: Events, moments: DataFrame) -> DataFrame:
    """Rows with ``TERM`` and ``until``, and ``last``: the latest sign before ``until`` that this epoch's leader served.

    It answered as a leader, or a record that was written under its epoch was handed to the client: it was written
    later than that. When that was acknowledged is no sign: of a record that the old leader has, and that the producer
    sends again, the new one tells. Without any sign it is when the leader was last named.
    """
    until = events.near(moments.select(*TERM, "until"))
    signs = events.frame(answers).select(*TERM, "at", F.lit(True).alias("sign")).unionByName(
        events.frame(written).select(*TERM, F.col("invoked").alias("at"), F.lit(True).alias("sign"))
    )  # fmt: skip
    said = events.table("partitions").select(
        *PLACE, F.col("leader_epoch").alias("epoch"), "at", F.lit(False).alias("sign")
    )
    last = (
        signs.unionByName(said)
        .join(until, on=list(TERM), how="inner")
        .filter(F.col("at") < F.col("until"))
        .groupBy(*TERM, "until")
        .agg(F.coalesce(F.max(F.when(F.col("sign"), F.col("at"))), F.max("at")).alias("last"))
    )
    return moments.join(events.near(last), on=[*TERM, "until"], how="left").withColumn(
        "last", F.coalesce("last", "until")
    )


def changes(events: Events) -> DataFrame:
    """Per leader epoch but the first of a partition, when records tell of it: ``TERM``, low, high.

    From the last answer of a leader before it, or its being named, if that was earlier, to its own first answer.
    """
    first = events.frame(answers).groupBy(*TERM).agg(F.min("at").alias("first"))
    later = (
        named(events)
        .withColumn("before", F.lag("epoch").over(Window.partitionBy(*PLACE).orderBy("epoch")))
        .filter(F.col("before").isNotNull())
        .join(events.near(first), on=list(TERM), how="left")
        .select(*TERM, "named", F.coalesce("first", F.lit(_ENDLESS)).alias("high"))
    )
    older = events.frame(answers).select(*PLACE, F.col("epoch").alias("older"), "at")
    last = (
        older.join(events.near(later), on=list(PLACE), how="inner")
        .filter((F.col("older") < F.col("epoch")) & (F.col("at") < F.col("high")))
        .groupBy(*TERM)
        .agg(F.max("at").alias("last"))
    )
    return later.join(events.near(last), on=list(TERM), how="left").select(
        *TERM, (F.coalesce(F.least("named", "last"), F.lit(0)) - F.lit(MARGIN)).alias("low"), "high"
    )


def written(events: Events) -> DataFrame:
    """One row per acknowledged record of those times, and epoch that it is in the log with: ``TERM``, its times."""
    times = events.near(
        events.frame(changes).select(*(F.col(name).alias(f"_{name}") for name in (*PLACE, "low", "high")))
    )
    here = [F.col(name) == F.col(f"_{name}") for name in PLACE]
    then = (F.col("completed") >= F.col("_low")) & (F.col("invoked") <= F.col("_high"))
    sent = (
        events.table("sends")
        .filter((F.col("outcome") == "ok") & F.col("completed").isNotNull())
        .withColumnsRenamed(OF_PRODUCER)
        .select(*VALUE, *PLACE, "invoked", "completed")
        .join(times, on=[*here, then], how="left_semi")
    )
    found = [
        events.table(table).filter(F.col("intact") & (F.col("leader_epoch") >= 0)).select(
            *VALUE, *PLACE, F.col("leader_epoch").alias("epoch")
        )
        for table in ("audit", "reads")
    ]  # fmt: skip
    return (
        found[0].unionByName(found[1])
        .join(events.near(sent), on=[*VALUE, *PLACE], how="inner")
        .groupBy(*VALUE, *TERM)
        .agg(F.min("invoked").alias("invoked"), F.min("completed").alias("completed"))
        .select(*TERM, "invoked", "completed")
    )  # fmt: skip


def _delivered(events: Events) -> DataFrame:
    """When records of a new epoch were first delivered, before its leader answered itself."""
    return (
        events.table("reads")
        .select(*PLACE, F.col("leader_epoch").alias("epoch"), "at")
        .join(events.near(events.frame(changes)), on=list(TERM), how="inner")
        .filter(F.col("at") <= F.col("high"))
        .groupBy(*TERM)
        .agg(F.min("at").alias("at"))
        .select(*TERM, "at")
    )
