"""Attempts to produce, and whether they count as written."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE

SETTINGS = ("acks", "idempotent", "max_in_flight")


@planned_once
def sends(events: Events) -> DataFrame:
    """Return one row per attempt: value, place, times, outcome, error, ``offset`` (None unless it names a place).

    ``written`` is "W": acknowledged, and outside of a transaction or in one that committed. A transaction also counts
    as committed if a reader at read_committed was given one of its records. ``plain``: outside of any transaction.
    """
    return attempts(events, events.table("sends"))


def attempts(events: Events, rows: DataFrame) -> DataFrame:
    """Return some rows of the table as ``sends`` does; all that belong to a transaction, if any does."""
    return _with_fate(events, rows.withColumnsRenamed(OF_PRODUCER)).select(
        *VALUE, *PLACE, "scheduled", "invoked", "completed", "outcome", "error",
        F.when(F.col("offset") >= 0, F.col("offset")).alias("offset"),
        ((F.col("outcome") == "ok") & F.col("fate")).alias("written"), F.col("txn").isNull().alias("plain"),
    )  # fmt: skip


def with_settings(events: Events, rows: DataFrame) -> DataFrame:
    """Add to rows that name a value the settings of the process that wrote it: acks, idempotent, max_in_flight."""
    workers = events.table("incarnations").select(
        F.col("probe").alias("producer"), F.col("incarnation").alias("producer_incarnation"), *SETTINGS
    )
    return rows.join(events.near(workers), on=["producer", "producer_incarnation"], how="left")


def _with_fate(events: Events, attempts: DataFrame) -> DataFrame:
    """Add ``fate`` to attempts: True if their transaction, if any, is known to have committed."""
    if not events.case.transactional:
        return attempts.withColumn("fate", F.lit(True))
    committed = events.table("transactions").filter(F.col("outcome") == "committed").select("txn")
    seen = (
        attempts.select("txn", *VALUE)
        .filter(F.col("txn").isNotNull())
        .join(committed_reads(events), on=list(VALUE), how="left_semi")
        .select("txn")
    )
    known = committed.unionByName(seen).distinct().withColumn("known", F.lit(True))
    fate = F.col("txn").isNull() | F.col("known").isNotNull()
    return attempts.join(known, on="txn", how="left").withColumn("fate", fate)


@planned_once
def committed_reads(events: Events) -> DataFrame:
    """Return values that any reader at read_committed, or the tail audit at that level, was given."""
    careful = events.table("incarnations").filter(F.col("isolation") == "read_committed").select("probe", "incarnation")
    read = (
        events.table("reads").filter("intact").join(events.near(careful), on=["probe", "incarnation"], how="left_semi")
    )
    audited = events.table("audit").filter("intact").filter(F.col("isolation") == "read_committed")
    return read.select(*VALUE).unionByName(audited.select(*VALUE)).distinct()
