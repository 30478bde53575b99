"""Offsets that are proven to hold a record which a consumer may see."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import reads, with_isolation
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import sends, with_settings


def visible(events: Events) -> DataFrame:
    """Per isolation level and partition the offsets that hold a record, each with ``following``, the next one.

    Proven by any reader of that level and by the tail audit; what read_committed shows, read_uncommitted shows too.
    Acknowledgements count only where no complete audit knows better, with acks=all (and, for read_committed, outside
    of a transaction that may have been aborted). Offsets are never taken to be contiguous: control records, aborted
    and compacted records leave holes. Offsets below the log start are left out.
    """
    seen = with_isolation(events, reads(events)).select("isolation", *PLACE, "offset")
    audited = events.table("audit").select("isolation", *PLACE, "offset")
    shown = seen.unionByName(audited).unionByName(_acknowledged(events))
    wider = shown.filter(F.col("isolation") == "read_committed").withColumn("isolation", F.lit("read_uncommitted"))
    offsets = shown.unionByName(wider).distinct()
    in_order = Window.partitionBy("isolation", *PLACE).orderBy("offset")
    return (
        offsets.join(events.near(events.frame(retained)), on=list(PLACE), how="left")
        .filter(F.col("log_start").isNull() | (F.col("offset") >= F.col("log_start")))
        .withColumn("following", F.lead("offset").over(in_order))
        .select("isolation", *PLACE, "offset", "following")
    )


def _acknowledged(events: Events) -> DataFrame:
    """Acknowledged offsets, as read_committed and so as both, of partitions whose audit is not complete."""
    audited = events.frame(retained).filter("complete").select(*PLACE)
    return (
        with_settings(events, sends(events))
        .filter(F.col("written") & F.col("offset").isNotNull() & (F.col("acks") == -1))
        .join(events.near(audited), on=list(PLACE), how="left_anti")
        .select(F.lit("read_committed").alias("isolation"), *PLACE, "offset")
    )
