"""Offsets that are proven to hold a record which a consumer may see."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import reads, with_isolation
from chaosk.analysis.frames.packed import offset_of
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.values import values


def visible(events: Events) -> DataFrame:
    """Per isolation level and partition the offsets that hold a record, each with ``following``, the next one.

    Proven by any reader of that level and by the tail audit; what read_committed shows, read_uncommitted shows too.
    An acknowledgement adds only that a record which somebody saw counts as written, so that read_committed shows it,
    too; where nobody saw it, it may be lost. Offsets are never taken to be contiguous: control records, aborted and
    compacted records leave holes. What lies below the log start follows nothing: it may have been deleted before a
    consumer came by; but what follows it is known.
    """
    seen = with_isolation(events, reads(events)).select("isolation", *PLACE, "offset")
    audited = events.table("audit").select("isolation", *PLACE, "offset")
    shown = seen.unionByName(audited).unionByName(_acknowledged(events))
    wider = shown.filter(F.col("isolation") == "read_committed").withColumn("isolation", F.lit("read_uncommitted"))
    offsets = shown.unionByName(wider).distinct()
    in_order = Window.partitionBy("isolation", *PLACE).orderBy("offset")
    all_of_it = in_order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    kept = F.when(F.col("log_start").isNull() | (F.col("offset") >= F.col("log_start")), F.col("offset"))
    later = F.greatest("next", "first")
    return (
        offsets.join(events.near(events.frame(retained)), on=list(PLACE), how="left")
        .withColumns({"next": F.lead("offset").over(in_order), "first": F.min(kept).over(all_of_it)})
        .withColumn("following", F.when(F.col("next").isNotNull() & F.col("first").isNotNull(), later))
        .select("isolation", *PLACE, "offset", "following")
    )


def _acknowledged(events: Events) -> DataFrame:
    """Acknowledged offsets of records that somebody saw, as read_committed, where no audit is complete."""
    audited = events.frame(retained).filter("complete").select(*PLACE)
    seen = events.frame(values).filter(F.col("written") & F.col("acked").between(F.col("first"), F.col("last")))
    return (
        with_settings(events, seen)
        .filter(F.col("acks") == -1)
        .select(F.lit("read_committed").alias("isolation"), *PLACE, offset_of(F.col("acked")).alias("offset"))
        .join(events.near(audited), on=list(PLACE), how="left_anti")
    )
