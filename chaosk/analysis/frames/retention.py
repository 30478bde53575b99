"""Records below the log start that the topic's retention may have deleted."""

from __future__ import annotations

from dataclasses import astuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.host_clocks import SCHEMA as CLOCKS
from chaosk.analysis.host_clocks import ClockStretch, clock_stretches
from chaosk.analysis.observed_settings import SCHEMA, keepings, last_moment, stamped_by_brokers

AGE = "it was older than the topic's retention.ms"
SIZE = "the topic had outgrown its retention.bytes"
UNMEASURED = "a step had moved the clock of a broker's host, by which retention goes, and nobody measured by how much"
"""Reason why a record below the log start is unproven."""
_ROUNDING = 1_000_000_000
"""Tolerance in nanoseconds for a record's age, which brokers measure in milliseconds."""


def with_retention(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``deletable`` to rows of records: ``AGE`` or ``SIZE`` if retention may have deleted it, else None.

    Rows name a value, its place, ``below`` (its offset, or a later one that was deleted), ``since`` (when it was sent
    or read), ``log_start`` and ``stored_end``. An advanced log start shows that a record is gone, and excuses nothing.
    It was deleted between the last answer of a broker with the old log start and its first one with the new; the
    setting must have been in force then, and the record's age, or the size of the records after it, must have reached
    the limit. Only whole segments are deleted: closed ones, or all of the log if all of it has expired. Brokers measure
    the age by the clocks of their hosts, see :func:`_with_clocks`.
    """
    kept = [astuple(each) for each in keepings(events.case)]
    if not kept:
        return rows.withColumn("deletable", F.lit(None).cast("string"))
    keeping = events.local(kept, SCHEMA).withColumnRenamed("topic", "of")
    below = rows.filter(F.col("below") < F.col("log_start"))
    gone = _with_clocks(events, _with_newest(events, _deletions(events, below)))
    in_force = (F.col("gone") >= F.col("began")) & F.coalesce(F.col("previous") <= F.col("ended"), F.lit(True))
    answers = (
        gone.join(events.near(keeping), on=(F.col("of") == F.col("topic")) & in_force, how="inner")
        .groupBy(*VALUE)
        .agg(F.min(_why()).alias("deletable"))
    )
    return rows.join(answers, on=list(VALUE), how="left").select(*rows.columns, "deletable")


def _why() -> Column:
    by_then = F.least("gone", "ended")
    end_by_then = F.least("stored_end", "grown_to")  # ignores nulls
    unknown = F.col("roll_at").isNull() | F.col("roll_records").isNull()
    closed = unknown | (F.col("gone") >= F.col("roll_at")) | (end_by_then >= F.col("roll_records"))
    closed = F.coalesce(closed, F.lit(True))
    now = by_then + F.col("ahead")
    newest = F.col("newest") + F.col("stamped_ahead_least")
    going_on = F.coalesce(newest > now - F.col("age") + F.lit(_ROUNDING), F.lit(False))
    old = (now - F.col("since") - F.col("stamped_ahead") + F.lit(_ROUNDING)) >= F.col("age")
    grown = (end_by_then - F.col("below")) >= F.col("records")
    return F.when(old & (closed | ~going_on), AGE).when(grown & (closed | (F.col("records") == 0)), SIZE)


def _with_clocks(events: Events, gone: DataFrame) -> DataFrame:
    """Add ``ahead``, ``stamped_ahead`` and ``stamped_ahead_least``, in nanoseconds ahead of chaosk's clock.

    ``ahead``: the most that the clock of any replica's host was ahead between the two answers, when it may have deleted
    the record. ``stamped_ahead``: the least that the clock which gave the record its timestamp was ahead. That is the
    clock of a replica's host if the topic has ``LogAppendTime``; with ``CreateTime`` it is that of the producer's
    machine, which is chaosk's. ``stamped_ahead_least``: the same for any record until then.
    """
    stretches = events.once(_stretches)
    names = ("ahead", "stamped_ahead", "stamped_ahead_least")
    if not stretches:
        return gone.withColumns({name: F.lit(0).cast("long") for name in names})
    clocks = _clocks(events, stretches)
    appended = among(
        F.col("row.topic"), (topic for topic in events.case.topics if stamped_by_brokers(events.case, topic))
    )
    here = [F.col(f"row.{name}") == F.col(f"clock.{name}") for name in PLACE]
    here.append(F.col("clock.began") <= F.col("row.gone"))
    meanwhile = F.col("clock.ended") >= F.coalesce("row.previous", F.lit(0))
    then = F.col("row.since").between(F.col("clock.began"), F.col("clock.ended"))
    least = F.when(appended, F.col("clock.least"))
    bounds = {
        "ahead": F.max(F.when(meanwhile, F.col("clock.most"))),
        "stamped_ahead": F.min(F.when(then, least)),
        "stamped_ahead_least": F.min(least),
    }
    zero = F.lit(0).cast("long")
    return (
        gone.alias("row")
        .join(events.near(clocks).alias("clock"), on=here, how="left")
        .groupBy(*(F.col(f"row.{name}") for name in gone.columns))
        .agg(*(F.coalesce(column, zero).alias(name) for name, column in bounds.items()))
    )


def _stretches(events: Events) -> tuple[ClockStretch, ...]:
    return clock_stretches(events.case)


def _clocks(events: Events, stretches: tuple[ClockStretch, ...]) -> DataFrame:
    """Return for each partition the stretches of its replicas' clocks."""
    clocks = events.local([astuple(each) for each in stretches], CLOCKS)
    replicas = events.table("partitions").select(*PLACE, F.explode("replicas").alias("broker")).distinct()
    return replicas.join(events.near(clocks), on="broker", how="inner")


def _deletions(events: Events, below: DataFrame) -> DataFrame:
    """Return for records below the log start ``gone``, ``previous``, ``led`` and ``grown_to`` of their deletion."""
    moved = [F.col(f"row.{name}") == F.col(f"start.{name}") for name in PLACE]
    moved.append(F.col("start.told") > F.col("row.below"))
    of_first = (F.min_by(f"start.{name}", "start.at").alias(name) for name in ("previous", "led", "grown_to"))
    return (
        below.alias("row")
        .join(events.near(_starts(events)).alias("start"), on=moved, how="left")
        .groupBy(*(F.col(f"row.{name}") for name in (*VALUE, *PLACE, "below", "since", "stored_end")))
        .agg(F.coalesce(F.min("start.at"), F.lit(last_moment(events.case))).alias("gone"), *of_first)
    )


def _starts(events: Events) -> DataFrame:
    """Return the log starts that brokers reported: ``told``, ``at`` (first), ``previous``, ``led`` and ``grown_to``.

    ``previous``: the same broker's answer before. ``led``: it was the leader at both times. The audit's start counts as
    the last answer.
    """
    in_turn = Window.partitionBy(*PLACE, "asked").orderBy("at")
    sampled = events.table("offsets").filter(F.col("log_start").isNotNull())
    answers = sampled.select(
        *PLACE, F.col("log_start").alias("told"), "at", F.lag("at").over(in_turn).alias("previous"),
        (F.col("leader") & F.lag("leader").over(in_turn)).alias("led"),
        F.coalesce("log_end", "high_watermark").alias("grown_to"),
    )  # fmt: skip
    last = sampled.filter("leader").groupBy(*PLACE).agg(F.max("at").alias("previous"))
    audited = (
        events.table("audit_ranges").groupBy(*PLACE).agg(F.max("log_start").alias("told"))
        .withColumns({"at": F.lit(last_moment(events.case)), "led": F.lit(True)})
        .join(events.near(last), on=list(PLACE), how="left")
    )  # fmt: skip
    of_first = (F.min_by(name, "at").alias(name) for name in ("previous", "led", "grown_to"))
    return (
        answers.unionByName(audited, allowMissingColumns=True)
        .groupBy(*PLACE, "told")
        .agg(F.min("at").alias("at"), *of_first)
    )


def _with_newest(events: Events, gone: DataFrame) -> DataFrame:
    """Add ``newest``: when the newest record was sent that the leader is known to have had before the deletion."""
    moments = gone.filter("led").select(*PLACE, "previous").distinct()
    sent = events.table("sends").filter((F.col("outcome") == "ok") & (F.col("offset") >= 0))
    newest = (
        sent.select(*PLACE, "invoked", "completed")
        .join(events.near(moments), on=list(PLACE), how="inner")
        .filter(F.col("completed") <= F.col("previous"))
        .groupBy(*PLACE, "previous")
        .agg(F.max("invoked").alias("newest"))
        .withColumn("led", F.lit(True))
    )
    return gone.join(events.near(newest), on=[*PLACE, "previous", "led"], how="left")
