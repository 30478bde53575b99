"""Observed placements ("O"): which value was seen at which offset, and by whom."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.sends import sends

_SEEN = (*VALUE, *PLACE, "offset")


def in_log(events: Events) -> DataFrame:
    """Values with the places that readers (``read``) and the tail audit (``audit``) found them at, repeats included.

    ``seen_by`` says which of the two; ``reader`` is the reader, empty for the audit. Records whose payload is not of
    this run (leftovers of an earlier one, foreign writers) have no value, so they are not in it.
    """
    read = events.table("reads").filter("intact")
    audited = events.table("audit").filter("intact")
    return read.select(
        *_SEEN, F.lit("read").alias("seen_by"), F.coalesce("group", "probe").alias("reader"), "at"
    ).unionByName(
        audited.select(
            *_SEEN, F.lit("audit").alias("seen_by"), F.lit(None).cast("string").alias("reader"),
            F.lit(None).cast("long").alias("at"),
        )
    )  # fmt: skip


def placements(events: Events) -> DataFrame:
    """All sightings ("O"): R, TL, acknowledged offsets, and offsets of uncertain sends whose value was seen in the log.

    One row per sighting: the value, the place, ``seen_by`` (read, audit or send), and ``acks`` of the send.
    """
    attempts = events.frame(sends).filter(F.col("offset").isNotNull())
    certain = attempts.filter(F.col("outcome") == "ok")
    uncertain = attempts.filter(F.col("outcome") == "info")
    proven = uncertain.join(in_log(events).select(*VALUE), on=list(VALUE), how="left_semi")
    acknowledged = certain.unionByName(proven).select(*_SEEN, F.lit("send").alias("seen_by"), "acks")
    return (
        in_log(events)
        .select(*_SEEN, "seen_by", F.lit(None).cast("int").alias("acks"))
        .unionByName(acknowledged)
        .select(*_SEEN, "seen_by", "acks")
    )
