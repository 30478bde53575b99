"""Offsets that are proven to hold a record visible to a consumer."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.deliveries import reads, with_isolation
from chaosk.analysis.frames.packed import offset_of
from chaosk.analysis.frames.removals import before_deletion, deletions, with_kept_until
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.values import values
from chaosk.analysis.observed_settings import compacted

_BITS = 10
"""Spans are looked up by blocks of 2**10 offsets."""
_SCHEMA = "isolation string, topic string, partition int, offset long, following long"


def visible(events: Events, spans: DataFrame, *, deleted: bool = False) -> DataFrame:
    """Return by isolation level and partition the offsets that hold a record, each with ``following``, the next one.

    Only ``spans`` (topic, partition, ``low``, ``high``) are covered: the offsets from ``low`` up to ``high``, and some
    others. So ``following`` is correct for an offset of a span if the next one is in the span, too.

    An offset is proven by any reader of that level and by the tail audit; a record visible at read_committed is also
    visible at read_uncommitted. If compaction removes records, only the tail audit counts: a record given to others may
    have been removed before a consumer reached it. An acknowledgement adds only that a record which was seen counts as
    written, so that it is visible at read_committed, too; a record that was never seen may be lost. Offsets are never
    assumed to be contiguous: control records, aborted and compacted records leave holes. A record below the log start
    is never a ``following`` one, unless ``deleted``: it may have been deleted before a consumer reached it. It may have
    a ``following`` one.
    """
    if not events.small and spans.isEmpty():
        return events.local([], _SCHEMA)
    in_order = Window.partitionBy("isolation", *PLACE).orderBy("offset")
    offsets = _wider(_within(events, _shown(events), spans).select("isolation", *PLACE, "offset")).distinct()
    shown = offsets.withColumn("following", F.lead("offset").over(in_order))
    if deleted or not events.once(deletions):
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
    """Return rows that passed over a record that they had to deliver, with ``skipped``, the offset of the first one.

    Each row names isolation, place, ``low`` (the first offset that it must not pass over) and ``high`` (the offset
    reached), ``passed`` (when; None: later records there count, too), and ``low_epoch`` and ``high_epoch``, the leader
    epochs of the records on both sides; None if unknown. An offset may have held several records over time. A record
    that was sent after it was passed, or whose leader epoch is not between the two, was not there to be passed over.
    Records below the log start may have been deleted before. They count if ``deleted``, or if a leader reported later
    than ``passed`` that the log still had them. Rows must be few: they are compared one by one.
    """
    spans = rows.select(*PLACE, "low", "high")
    there = dated(events, events.kept(_within(events, _wider(_shown(events)), spans)))
    there = there.select(
        *(F.col(name).alias(f"there_{name}") for name in ("isolation", *PLACE, "offset", "leader_epoch", "invoked"))
    )
    here = [F.col(name) == F.col(f"there_{name}") for name in ("isolation", *PLACE)]
    here += [F.col("there_offset") >= F.col("low"), F.col("there_offset") < F.col("high")]
    here.append(~F.coalesce(F.col("there_leader_epoch") < F.col("low_epoch"), F.lit(False)))
    here.append(~F.coalesce(F.col("there_leader_epoch") > F.col("high_epoch"), F.lit(False)))
    here.append(~F.coalesce(F.col("there_invoked") > F.col("passed"), F.lit(False)))
    known = there.join(events.near(rows), on=here, how="inner")
    if not deleted and events.once(deletions):
        starts = events.frame(retained).select(*PLACE, F.col("log_start"))
        kept = F.col("there_offset") >= F.coalesce("log_start", F.lit(0))
        found = known.select(*rows.columns, "there_offset").distinct()
        found = with_kept_until(events, found, "there_offset")
        known = found.join(events.near(starts), on=list(PLACE), how="left")
        known = known.filter(kept | before_deletion(F.col("passed")))
    return known.groupBy(*rows.columns).agg(F.min("there_offset").alias("skipped"))


def dated(events: Events, shown: DataFrame) -> DataFrame:
    """Add ``invoked`` to rows that name a value: the time of its send; None if unknown."""
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
    """Remove from clients' evidence what compaction may have removed since: in compacted topics only the audit counts.

    A consumer that reads later than others need not be given the records that they were given.
    """
    compact = [topic for topic in events.case.topics if compacted(events.case, topic)]
    return told.filter(~among(F.col("topic"), compact)) if compact else told


def _wider(shown: DataFrame) -> DataFrame:
    careful = shown.filter(F.col("isolation") == "read_committed")
    return shown.unionByName(careful.withColumn("isolation", F.lit("read_uncommitted")))


def _within(events: Events, shown: DataFrame, spans: DataFrame) -> DataFrame:
    """Return the rows in the blocks of the spans; all of a small run."""
    if events.small:
        return shown
    numbers = F.explode(F.sequence(F.shiftright("low", _BITS), F.shiftright("high", _BITS)))
    blocks = spans.filter(F.col("low") <= F.col("high")).select(*PLACE, numbers.alias("number"))
    wanted = blocks.select(F.xxhash64(*PLACE, "number").alias("block")).distinct()
    near = events.is_one_of(F.shiftright("offset", _BITS), blocks.select("number"))
    within = shown.filter(near).withColumn("block", F.xxhash64(*PLACE, F.shiftright("offset", _BITS)))
    return within.join(F.broadcast(wanted), on="block", how="left_semi").drop("block")


def _firsts(events: Events) -> DataFrame:
    """Return for partitions whose log does not begin at 0: ``log_start``, and ``first`` by isolation level.

    ``first`` is the lowest offset at or after the log start that is proven to hold a record; None if there is none.
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
    """Return acknowledged offsets of records that were seen, as read_committed, where no audit is complete."""
    audited = events.frame(retained).filter("complete").select(*PLACE)
    seen = events.frame(values).filter(F.col("written") & F.col("acked").between(F.col("first"), F.col("last")))
    return (
        with_settings(events, seen)
        .filter(F.col("acks") == -1)
        .select(F.lit("read_committed").alias("isolation"), *PLACE, offset_of(F.col("acked")).alias("offset"), *VALUE)
        .join(events.near(audited), on=list(PLACE), how="left_anti")
    )
