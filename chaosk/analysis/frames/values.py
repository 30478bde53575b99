"""Every value that anyone spoke of: sent, read or found by the tail audit, one row each."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.placements import in_log
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import SETTINGS, sends

_SENT = ("scheduled", "invoked", "completed", "outcome", "written", *SETTINGS)


def values(events: Events) -> DataFrame:
    """One row per value, with what its producer knew, where it was seen, and what its partition's log still holds.

    From its send: ``scheduled``, ``invoked``, ``completed``, ``outcome`` (None where a killed probe left no row),
    ``written``, ``acks``, ``idempotent``, ``max_in_flight``, ``acked`` (the place the acknowledgement named).
    From the log: ``first`` and ``last`` (lowest and highest place it was seen at, None if never), ``audited``,
    ``read``, ``read_place`` (the highest a reader got it at), ``read_at``, ``readers``. ``topic``, ``partition`` and
    ``offset``: its place, the log's word first. ``log_start``, ``end``, ``complete``, ``trimmed``: see ``retained``.
    """
    merged = _sent(events).unionByName(_seen(events), allowMissingColumns=True)
    seen = F.col("place").isNotNull()
    read = F.col("seen_by") == "read"
    per_value = merged.groupBy(*VALUE).agg(
        *(F.max(name).alias(name) for name in _SENT),
        F.max("acked").alias("acked"),
        F.max("tried").alias("tried"),
        F.min(F.when(seen, F.col("place"))).alias("first"),
        F.max(F.when(seen, F.col("place"))).alias("last"),
        F.max(F.when(read, F.col("place"))).alias("read_place"),
        F.min(F.when(read, F.col("at"))).alias("read_at"),
        F.coalesce(F.bool_or(F.col("seen_by") == "audit"), F.lit(False)).alias("audited"),
        F.coalesce(F.bool_or(read), F.lit(False)).alias("read"),
        F.array_sort(F.collect_set("reader")).alias("readers"),
    )
    place = F.coalesce("first", "acked", "tried")
    return (
        per_value.withColumn("topic", place["topic"])
        .withColumn("partition", place["partition"])
        .withColumn("offset", place["offset"])
        .join(F.broadcast(events.frame(retained)), on=list(PLACE), how="left")
        .withColumn("complete", F.coalesce("complete", F.lit(False)))
        .withColumn("written", F.coalesce("written", F.lit(False)))
        .select(
            *VALUE, *PLACE, "offset", *_SENT, "acked", "first", "last", "read_place", "read_at", "audited", "read",
            "readers", "log_start", "end", "complete", "trimmed",
        )
    )  # fmt: skip


def _sent(events: Events) -> DataFrame:
    rows = events.frame(sends)
    acked = F.when((F.col("outcome") == "ok") & F.col("offset").isNotNull(), _place(F.col("offset")))
    return rows.select(*VALUE, *_SENT, acked.alias("acked"), _place(F.lit(None).cast("long")).alias("tried"))


def _seen(events: Events) -> DataFrame:
    return in_log(events).select(*VALUE, _place(F.col("offset")).alias("place"), "seen_by", "reader", "at")


def _place(offset: Column) -> Column:
    return F.struct("topic", "partition", offset.alias("offset"))
