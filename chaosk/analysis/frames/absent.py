"""Records that the log does not show at both isolation levels, each with a severity and a reason."""

from __future__ import annotations

from dataclasses import astuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import among, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.packed import offset_of
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.takeovers import ALONE, with_leaders, with_replicated
from chaosk.analysis.frames.truncations import excused, truncations
from chaosk.analysis.frames.values import values
from chaosk.analysis.observed_settings import SCHEMA, compacted, keepings, reported

EXCUSED = "excused"
"""Severity of a record that need not be in the log: no finding, but a line of the ledger."""
UNAUDITED = "the tail audit of its partition is not complete"
UNREPORTED = "the log's start moved past it, and no broker reported the settings that may delete it"
_REMADE = "its topic was deleted and made again"
_AGE = "it was older than the topic's retention.ms"
_SIZE = "the topic had outgrown its retention.bytes"
_LATEST = "compaction keeps only the latest record of a key"


def absent(events: Events) -> DataFrame:
    """Return one row per acknowledged or read value that the audit did not find at both isolation levels.

    Columns: the value, topic, partition, offset (as read, else as acknowledged), kind, severity and reason (see
    ``checks._contract``, and ``EXCUSED``), written, read, acks, scheduled, invoked, completed, read_at. ``kind``:
    ``hidden`` (only at read_uncommitted), ``deleted`` (below the log start), ``truncated_after_read`` or ``lost``.
    Records of open and of aborted transactions are excluded.
    """
    gone = ~F.col("stored") & ~F.col("visible") & (F.col("written") | F.col("read"))
    half = (F.col("stored") != F.col("visible")) & (F.col("written") | F.col("plain"))
    missing = events.frame(values).filter(gone | half)
    offset = F.when(F.col("audited"), F.col("first")).otherwise(F.coalesce("read_place", "acked"))
    rows = _with_deletion(
        events,
        with_settings(events, missing)
        .drop("offset")
        .withColumn("offset", offset_of(offset))
        .join(events.near(events.frame(retained)), on=list(PLACE), how="left"),
    )
    return _with_elections(events, rows).withColumns(_answers(events)).withColumn("kind", _kind()).select(
        *VALUE, *PLACE, "offset", "kind", "severity", "reason", "written", "read", "acks", "scheduled", "invoked",
        "completed", "read_at",
    )  # fmt: skip


def _with_elections(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``deposed``, ``replicated`` and ``amid``, which matter if the leader alone may have acknowledged.

    The joins are skipped if all producers use ``acks=all``.
    """
    if all(worker.acks in (None, -1) for worker in events.case.workers):
        return rows.withColumns({name: F.lit(False) for name in ("deposed", "replicated", "amid")})
    return _amid(events, with_replicated(events, with_leaders(events, rows)))


def bereft(events: Events) -> frozenset[tuple[object, object]]:
    """Return topic and partition (as displayed) of each log that lost a record, allowed or not, or was truncated."""
    gone = events.frame(absent).filter(F.col("severity").isin("violation", "allowed")).select(*PLACE).distinct()
    places = {(row["topic"], row["partition"]) for row in gone.collect()}
    places |= {(cut.topic, cut.partition) for cut in events.once(truncations)}
    return frozenset(events.case.former.told(topic, partition) for topic, partition in places)


def _amid(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``amid``: True if records of one leader are on both sides of the offset, and none at it.

    A truncation in favour of another leader removes the end of a log, and the new leader's records take its place. So
    no truncation leaves a hole. False if markers or records of other clients may be in the log, or compaction removed
    some.
    """
    case = events.case
    if case.transactional or case.foreign:
        return rows.withColumn("amid", F.lit(False))
    cleaned = [topic for topic in case.topics if compacted(case, topic)]
    audit = events.table("audit").filter(~among(F.col("topic"), cleaned))
    reigns = audit.filter(F.col("leader_epoch") >= 0).groupBy(*PLACE, "leader_epoch")
    spans = reigns.agg(F.min("offset").alias("low"), F.max("offset").alias("high"))
    here = [F.col(f"row.{name}") == F.col(f"span.{name}") for name in PLACE]
    here += [F.col("row.offset") > F.col("span.low"), F.col("row.offset") < F.col("span.high")]
    within = (
        rows.select(*VALUE, *PLACE, "offset")
        .join(audit.select(*PLACE, "offset"), on=[*PLACE, "offset"], how="left_anti")
        .alias("row")
        .join(events.near(spans).alias("span"), on=here, how="left_semi")
        .select(*VALUE, F.lit(True).alias("amid"))
    )
    return rows.join(within, on=list(VALUE), how="left").withColumn("amid", F.coalesce("amid", F.lit(False)))


def _kind() -> Column:
    below = F.col("offset") < F.col("log_start")
    return (
        F.when(F.col("audited"), "hidden")
        .when(below, "deleted")
        .otherwise(F.when(F.col("read"), "truncated_after_read").otherwise("lost"))
    )


def _answers(events: Events) -> dict[str, Column]:
    case = events.case
    below = F.col("offset") < F.col("log_start")
    known = among(F.col("topic"), reported(case))
    compact = among(F.col("topic"), [topic for topic in case.topics if compacted(case, topic)])
    beyond = F.col("stored") & (F.col("offset") >= F.col("visible_end"))
    alone = ~F.col("read") & (F.col("acks") != -1)
    held_back = "the last stable offset stood before it when the audit read at read_committed"
    return meaning(
        (F.col("remade"), EXCUSED, _REMADE),
        (~F.coalesce("complete", F.lit(False)), "unproven", UNAUDITED),
        (F.col("visible"), "unproven", "the audit has it at read_committed alone, so its other pass lacks rows"),
        (F.col("superseded"), EXCUSED, _LATEST),
        (F.col("cleaned"), EXCUSED, "compaction removes the records of aborted transactions"),
        (compact & ~F.col("keyed"), "unproven", "compaction removes records of a key, and its key is not known"),
        (beyond, "unproven", held_back),
        (F.col("deletable") == _AGE, EXCUSED, _AGE),
        (F.col("deletable") == _SIZE, EXCUSED, _SIZE),
        (below & ~known, "unproven", UNREPORTED),
        (F.col("offset").isNull() & F.col("trimmed"), "unproven", "its offset is unknown, and records were deleted"),
        *excused(events, F.col("offset"), F.coalesce("completed", "read_at")),
        (~F.col("read") & (F.col("acks") == 0), "allowed", "acks is 0: no broker had acknowledged it"),
        (alone & F.col("deposed") & ~F.col("amid") & ~F.col("replicated"), "allowed", ALONE),
        otherwise=("violation", None),
    )


def _with_deletion(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``remade``, ``keyed``, ``superseded``, ``cleaned`` and ``deletable``: possible reasons of a deletion.

    An advanced log start shows that records are gone, and excuses none. A setting excuses a record if, while it was in
    force and the record was there, the record's age, or the size of the records after it, had reached the limit.
    """
    case = events.case
    remade = F.lit(False)
    for topic, remaking in case.former.topics.items():
        remade = remade | ((F.col("topic") == topic) & (F.col("partition") >= remaking.apart))
    return _with_keys(events, _with_retention(events, rows.withColumn("remade", remade)))


def _with_retention(events: Events, rows: DataFrame) -> DataFrame:
    kept = [astuple(each) for each in keepings(events.case)]
    if not kept:
        return rows.withColumn("deletable", F.lit(None).cast("string"))
    keeping = events.spark.createDataFrame(kept, SCHEMA).withColumnRenamed("topic", "of")
    leaders = events.table("offsets").filter("leader")
    starts = leaders.groupBy(*PLACE, F.col("log_start").alias("told")).agg(
        F.min("at").alias("at"), F.min_by(F.coalesce("log_end", "high_watermark"), "at").alias("grown_to")
    )
    moved = [F.col(f"row.{name}") == F.col(f"start.{name}") for name in PLACE]
    moved.append(F.col("start.told") > F.col("row.offset"))
    last = max((span.ended for span in events.case.phases), default=events.case.record.ended)
    when_gone = F.coalesce(F.min("start.at"), F.lit(last)).alias("gone")
    names = rows.columns
    below = rows.filter(F.col("offset") < F.col("log_start")).withColumn("since", F.coalesce("invoked", "read_at"))
    gone = (
        below.alias("row")
        .join(events.near(starts).alias("start"), on=moved, how="left")
        .groupBy(*(F.col(f"row.{name}") for name in (*VALUE, *PLACE, "offset", "since", "stored_end")))
        .agg(when_gone, F.min_by("start.grown_to", "start.at").alias("grown_to"))
    )
    by_then = F.least("gone", "ended")
    old = (by_then - F.col("since") + F.lit(_ROUNDING)) >= F.col("age")
    end_by_then = F.least("stored_end", "grown_to")  # ignores nulls
    grown = (end_by_then - F.col("offset")) >= F.col("records")
    why = F.when(old, _AGE).when(grown, _SIZE)
    answers = (
        gone.join(
            events.near(keeping), on=(F.col("of") == F.col("topic")) & (F.col("gone") >= F.col("began")), how="inner"
        )
        .groupBy(*VALUE)
        .agg(F.min(why).alias("deletable"))
    )
    return rows.join(answers, on=list(VALUE), how="left").select(*names, "deletable")


def _with_keys(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``keyed`` (its key is known from the plan), ``superseded`` (by a later record of the key), ``cleaned``."""
    case = events.case
    topics = [topic for topic in case.topics if compacted(case, topic)]
    if not topics:
        return rows.withColumns({name: F.lit(False) for name in ("keyed", "superseded", "cleaned")})
    here = among(F.col("topic"), topics)
    marked = rows.withColumn("key", F.when(here, _key(case)))
    later = (
        events.table("audit").filter("intact").filter(F.col("isolation") == "read_committed").filter(here)
        .withColumn("key", _key(case)).filter(F.col("key").isNotNull())
        .groupBy(*PLACE, "key").agg(F.max("offset").alias("latest"))
    )  # fmt: skip
    return (
        _with_aborted(events, marked)
        .join(events.near(later), on=[*PLACE, "key"], how="left")
        .withColumns(
            {
                "keyed": F.col("key").isNotNull(),
                "superseded": F.coalesce(F.col("latest") > F.col("offset"), F.lit(False)),
                "cleaned": here & F.col("aborted") & ~F.col("written"),
            }
        )
        .drop("key", "latest", "aborted")
    )


def _with_aborted(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``aborted``: True if their transaction is known to be aborted."""
    if not events.case.transactional:
        return rows.withColumn("aborted", F.lit(False))
    over = events.table("transactions").filter(F.col("outcome") == "aborted").select("txn")
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER).join(over, on="txn", how="left_semi")
    aborted = sent.select(*VALUE).distinct().withColumn("aborted", F.lit(True))
    return rows.join(aborted, on=list(VALUE), how="left").withColumn("aborted", F.coalesce("aborted", F.lit(False)))


def _key(case: Case) -> Column:
    """Return the key of a value according to its producer's plan; null without a key or with an unknown probe."""
    key = F.lit(None).cast("long")
    for name, probe in case.plan.probes.items():
        keys = (probe.get("produce") or {}).get("keys", "none")
        if keys == "sequence":
            key = F.when(F.col("producer") == name, F.col("seq")).otherwise(key)
        elif isinstance(keys, int):
            key = F.when(F.col("producer") == name, F.col("seq") % F.lit(keys)).otherwise(key)
    return key


_ROUNDING = 1_000_000_000
"""Tolerance in nanoseconds for a record's age, which brokers measure in milliseconds of their own clocks."""
