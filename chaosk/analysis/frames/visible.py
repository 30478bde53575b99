"""Offsets that are proven to hold a record which a consumer may see."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.deliveries import reads, with_isolation
from chaosk.analysis.frames.packed import offset_of
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.values import values
from chaosk.analysis.settingsseen import compacted

_BITS = 10
"""Spans are looked up by blocks of 2**10 offsets."""
_SCHEMA = "isolation string, topic string, partition int, offset long, following long"


def visible(events: Events, spans: DataFrame) -> DataFrame:
    """Per isolation level and partition the offsets that hold a record, each with ``following``, the next one.

    Of ``spans`` alone (topic, partition, ``low``, ``high``): the offsets from ``low`` up to ``high``, and some others.
    So ``following`` is right for an offset of a span whose next one lies in the span, too.

    Proven by any reader of that level and by the tail audit; what read_committed shows, read_uncommitted shows too.
    Where compaction removes records only the tail audit counts: what others were given may have been removed before a
    consumer came by. An acknowledgement adds only that a record which somebody saw counts as written, so that
    read_committed shows it, too; where nobody saw it, it may be lost. Offsets are never taken to be contiguous: control
    records, aborted and compacted records leave holes. What lies below the log start follows nothing: it may have been
    deleted before a consumer came by; but what follows it is known.
    """
    if not events.small and spans.isEmpty():
        return events.spark.createDataFrame([], _SCHEMA)
    in_order = Window.partitionBy("isolation", *PLACE).orderBy("offset")
    offsets = _wider(_within(events, _shown(events), spans).select("isolation", *PLACE, "offset")).distinct()
    shown = offsets.withColumn("following", F.lead("offset").over(in_order))
    if not events.once(_cut):
        return shown
    known = F.col("log_start").isNull() | F.col("first").isNotNull()
    later = F.when(known & F.col("following").isNotNull(), F.greatest("following", "first"))
    firsts = events.near(_firsts(events))
    return (
        shown.join(firsts, on=["isolation", *PLACE], how="left")
        .withColumn("following", later)
        .select("isolation", *PLACE, "offset", "following")
    )


def skipped(events: Events, rows: DataFrame, *, deleted: bool = False) -> DataFrame:
    """The rows that passed over a record they ought not to have, with ``skipped``, the offset of the first such one.

    Each row names isolation, place, ``low`` (the first offset that it may not pass over) and ``high`` (the one that it
    came to), ``passed`` (when; None: what comes there later counts, too), and ``low_epoch`` and ``high_epoch``, the
    leader epochs of the records on both sides; None where nobody knows. An offset may have been several records over
    time: one that was sent after it was passed, or that another leader wrote than those between the two epochs, was
    not there to be passed over. Records below the
    log start may have been deleted before; they count if ``deleted``. Rows must be few: they are compared one by one.
    """
    spans = rows.select(*PLACE, "low", "high")
    there = _dated(events, _within(events, _wider(_shown(events)), spans))
    there = there.select(
        *(F.col(name).alias(f"there_{name}") for name in ("isolation", *PLACE, "offset", "leader_epoch", "invoked"))
    )
    here = [F.col(name) == F.col(f"there_{name}") for name in ("isolation", *PLACE)]
    here += [F.col("there_offset") >= F.col("low"), F.col("there_offset") < F.col("high")]
    here.append(~F.coalesce(F.col("there_leader_epoch") < F.col("low_epoch"), F.lit(False)))
    here.append(~F.coalesce(F.col("there_leader_epoch") > F.col("high_epoch"), F.lit(False)))
    here.append(~F.coalesce(F.col("there_invoked") > F.col("passed"), F.lit(False)))
    known = there.join(events.near(rows), on=here, how="inner")
    if not deleted:
        starts = events.frame(retained).select(*PLACE, F.col("log_start"))
        kept = F.col("there_offset") >= F.coalesce("log_start", F.lit(0))
        known = known.join(events.near(starts), on=list(PLACE), how="left").filter(kept)
    return known.groupBy(*rows.columns).agg(F.min("there_offset").alias("skipped"))


def _dated(events: Events, shown: DataFrame) -> DataFrame:
    """What was shown, with ``invoked``: when it was sent; None where nobody knows."""
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER).select(*VALUE, "invoked")
    if events.small:
        return shown.join(sent.hint("shuffle_hash"), on=list(VALUE), how="left")
    few = F.broadcast(shown.select(*VALUE).distinct())
    return shown.join(F.broadcast(sent.join(few, on=list(VALUE), how="left_semi")), on=list(VALUE), how="left")


def _shown(events: Events) -> DataFrame:
    columns = ("isolation", *PLACE, "offset", "leader_epoch", *VALUE)
    seen = with_isolation(events, reads(events)).select(*columns)
    audited = events.table("audit").select(*columns)
    told = seen.unionByName(_acknowledged(events), allowMissingColumns=True)
    return _kept(events, told).unionByName(audited, allowMissingColumns=True)


def _kept(events: Events, told: DataFrame) -> DataFrame:
    """Those of what clients were told that compaction cannot have removed since: in such topics the audit alone counts.

    Who reads later than others is rightly not given what they were.
    """
    compact = [topic for topic in events.case.topics if compacted(events.case, topic)]
    return told.filter(~among(F.col("topic"), compact)) if compact else told


def _wider(shown: DataFrame) -> DataFrame:
    careful = shown.filter(F.col("isolation") == "read_committed")
    return shown.unionByName(careful.withColumn("isolation", F.lit("read_uncommitted")))


def _within(events: Events, shown: DataFrame, spans: DataFrame) -> DataFrame:
    """What lies in the spans, and beside them: all of a small run."""
    if events.small:
        return shown
    numbers = F.explode(F.sequence(F.shiftright("low", _BITS), F.shiftright("high", _BITS)))
    blocks = spans.filter(F.col("low") <= F.col("high")).select(*PLACE, numbers.alias("number"))
    wanted = blocks.select(F.xxhash64(*PLACE, "number").alias("block")).distinct()
    within = shown.withColumn("block", F.xxhash64(*PLACE, F.shiftright("offset", _BITS)))
    return within.join(F.broadcast(wanted), on="block", how="left_semi").drop("block")


def _cut(events: Events) -> bool:
    """Whether any log does not begin at 0."""
    return not events.frame(retained).filter(F.col("log_start") > 0).isEmpty()


def _firsts(events: Events) -> DataFrame:
    """Of partitions whose log does not begin at 0: ``log_start``, and by isolation level ``first``, at or after it.

    ``first`` is the lowest offset that is proven to hold a record; None if there is none.
    """
    cut = events.frame(retained).filter(F.col("log_start") > 0).select(*PLACE, "log_start")
    levels = F.explode(F.array(F.lit("read_committed"), F.lit("read_uncommitted")))
    kept = (
        _wider(_shown(events).join(events.near(cut), on=list(PLACE), how="inner"))
        .filter(F.col("offset") >= F.col("log_start"))
        .groupBy("isolation", *PLACE)
        .agg(F.min("offset").alias("first"))
    )
    return cut.withColumn("isolation", levels).join(events.near(kept), on=["isolation", *PLACE], how="left")


def _acknowledged(events: Events) -> DataFrame:
    """Acknowledged offsets of records that somebody saw, as read_committed, where no audit is complete."""
    audited = events.frame(retained).filter("complete").select(*PLACE)
    seen = events.frame(values).filter(F.col("written") & F.col("acked").between(F.col("first"), F.col("last")))
    return (
        with_settings(events, seen)
        .filter(F.col("acks") == -1)
        .select(F.lit("read_committed").alias("isolation"), *PLACE, offset_of(F.col("acked")).alias("offset"), *VALUE)
        .join(events.near(audited), on=list(PLACE), how="left_anti")
    )
