"""Earliest removal of records from a log, to be compared with the time at which a reader passed their offset.

A deletion, a compaction or a truncation excuses a reader only if it may have preceded the reader: a record that was
still in the log when the reader passed its offset had to be delivered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.keys import with_key
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.truncations import SURE
from chaosk.analysis.observed_settings import compacted


def deletions(events: Events) -> bool:
    """Return True if any log does not begin at 0."""
    return not events.frame(retained).filter(F.col("log_start") > 0).isEmpty()


def log_starts(events: Events) -> DataFrame:
    """Return one row per partition and log start that a leader reported: ``told``, ``first_at``, ``last_at``."""
    leaders = events.table("offsets").filter("leader")
    return leaders.groupBy(*PLACE, F.col("log_start").alias("told")).agg(
        F.min("at").alias("first_at"), F.max("at").alias("last_at")
    )


def with_kept_until(events: Events, rows: DataFrame, offset: str) -> DataFrame:
    """Add ``kept_until``: the last time at which a leader's log is known to have begun at or before an offset.

    It is the last sample before the first one that reported a later start; None if there is none. Rows are few, and no
    two of them are equal.
    """
    starts = events.near(events.frame(log_starts)).alias("start")
    same = [F.col(f"row.{name}") == F.col(f"start.{name}") for name in PLACE]
    beyond = F.col("start.told") > F.col(f"row.{offset}")
    kept, gone = F.max(F.when(~beyond, F.col("last_at"))), F.min(F.when(beyond, F.col("first_at")))
    return (
        rows.alias("row")
        .join(starts, on=same, how="left")
        .groupBy(*(F.col(f"row.{name}") for name in rows.columns))
        .agg(F.when(kept.isNotNull(), F.least(kept, gone)).alias("kept_until"))
    )


def before_deletion(at: Column) -> Column:
    """Return a condition for rows with ``kept_until``: at that time the record was certainly not deleted yet."""
    return F.coalesce(at < F.col("kept_until") - F.lit(SURE), F.lit(False))


def superseded_at(events: Events) -> DataFrame:
    """Return the values in compacted topics with ``superseded_at``: the first send of a later record of their key.

    An attempt of unknown offset may have been the later record. Without a time compaction may have removed the value at
    any time: so it is if a producer was killed, since its last attempts are not recorded.
    """
    case = events.case
    topics = [topic for topic in case.topics if compacted(case, topic)]
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER).filter(among(F.col("topic"), topics))
    keyed = with_key(events, sent).filter(F.col("key").isNotNull() & (F.col("outcome") != "fail"))
    later = Window.partitionBy(*PLACE, "key").orderBy(F.col("offset").desc()).rowsBetween(Window.unboundedPreceding, -1)
    placed = (F.col("outcome") == "ok") & F.col("offset").isNotNull()
    unplaced = keyed.filter(~placed).groupBy("topic", "key").agg(F.min("invoked").alias("unplaced_at"))
    writing = {name for name, probe in case.plan.probes.items() if _writes_to(probe) & set(topics)}
    known = F.lit(not any(probe in writing for probe, _ in case.unended))
    return (
        keyed.filter(placed)
        .withColumn("next_at", F.min("invoked").over(later))
        .join(events.near(unplaced), on=["topic", "key"], how="left")
        .select(*VALUE, F.when(known, F.least("next_at", "unplaced_at")).alias("superseded_at"))
    )


def _writes_to(probe: Mapping[str, Any]) -> set[str]:
    """Return the topics that a probe of the plan writes to: records, outputs, dead letters, its own offsets."""
    consume = probe.get("consume") or {}
    written = (
        (probe.get("produce") or {}).get("topic"),
        (probe.get("transform") or {}).get("to"),
        (consume.get("failing") or {}).get("topic"),
        (consume.get("offsets") or {}).get("topic"),
    )
    return {str(topic) for topic in written if topic}
