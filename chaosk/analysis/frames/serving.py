"""Service of partitions by leader epoch, from the leaders' own answers and from records written under the epochs."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE

TERM = (*PLACE, "epoch")
"""Columns that identify a broker's term as leader of a partition."""
MARGIN = 1_000_000_000
"""Nanoseconds by which the search for records extends beyond a change of leader, on either side."""
_ENDLESS = 2**62


@planned_once
def named(events: Events) -> DataFrame:
    """Return one row per leader epoch in any broker's metadata: ``TERM``, leader (-1: none), named (first time)."""
    last = F.struct(F.col("leader") >= 0, "at")
    return (
        events.table("partitions")
        .filter(F.col("leader_epoch").isNotNull())
        .groupBy(*PLACE, F.col("leader_epoch").alias("epoch"))
        .agg(F.max_by("leader", last).alias("leader"), F.min("at").alias("named"))
    )


def answers(events: Events) -> DataFrame:
    """Return one row per ListOffsets answer that only a leader gives: ``TERM``, at.

    The epoch is from the broker's own metadata right before, in which it is the leader. For a broker whose metadata was
    never sampled, it is the epoch at which others last named it. A new leader without an offset to report (KIP-207)
    does not serve yet.
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
    """Return one row per leader epoch under which a leader served: ``TERM``, leader, since.

    ``since`` is the first sign that the leader served: it answered ListOffsets as a leader, or a record written under
    its epoch was acknowledged or delivered. An epoch without a sign is excluded: its leader was elected, and never
    usable. In runs that do not record which brokers the watcher asked (no rows in ``brokers``), a leader without a sign
    serves from when it was first named.
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
    """Add ``last`` to rows with ``TERM`` and ``until``: the latest sign before it that this epoch's leader served.

    A sign is its answer as a leader, or the handing over of a record to the client that was written under its epoch:
    the write came later than that. The acknowledgement is no sign: if the producer retries a record that the old leader
    has, the new leader acknowledges it. Without any sign, ``last`` is when the leader was last named.
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
    """Return for each leader epoch but a partition's first the time in which its records matter: ``TERM``, low, high.

    The time lasts from the last answer of an earlier leader, or from its first naming if that was earlier, to its own
    first answer.
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
    """Return acknowledged records of these times by the epoch in the log: ``TERM``, invoked, completed."""
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
    """Return the first delivery of each new epoch's records, if it was before the leader's own first answer."""
    return (
        events.table("reads")
        .select(*PLACE, F.col("leader_epoch").alias("epoch"), "at")
        .join(events.near(events.frame(changes)), on=list(TERM), how="inner")
        .filter(F.col("at") <= F.col("high"))
        .groupBy(*TERM)
        .agg(F.min("at").alias("at"))
        .select(*TERM, "at")
    )
