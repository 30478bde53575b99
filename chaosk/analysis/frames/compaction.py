"""Records that compaction may have removed: keys, later records of a key, and closed segments."""

from __future__ import annotations

from dataclasses import astuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.keys import with_key
from chaosk.analysis.observed_settings import COMPACTIONS, Compaction, compactions, last_moment


def with_compaction(events: Events, rows: DataFrame) -> DataFrame:
    """Add to rows ``compactable`` (compaction may have removed them), ``keyed`` and ``superseded``.

    Rows name a value, its place, ``offset`` (None if unknown), ``since`` (when it was sent or read) and ``stored_end``
    (the log's end according to the audit). ``compactable``: compaction was in force after the record was there, and a
    segment may have been closed, for the one that is written to is never compacted. ``keyed``: its key is known, see
    ``frames.keys``. ``superseded``: ``compactable``, and the log has a later record of its key, which was sent while
    compaction was in force.
    """
    found = compactions(events.case)
    if not found:
        return rows.withColumns({name: F.lit(False) for name in ("compactable", "keyed", "superseded")})
    here = among(F.col("topic"), [each.topic for each in found])
    about = events.local([astuple(each) for each in found], COMPACTIONS)
    marked = with_key(events, rows).withColumn("key", F.when(here, F.col("key")))
    return (
        _with_next(events, marked, found)
        .join(events.near(about), on="topic", how="left")
        .join(events.near(_latest(events, here)), on=[*PLACE, "key"], how="left")
        .withColumn("compactable", here & _compactable(events.case))
        .withColumns({"keyed": F.col("key").isNotNull(), "superseded": F.col("compactable") & _superseded()})
        .drop("key", "latest", "next_sent", "until", "roll_at", "roll_records")
    )


def _compactable(case: Case) -> Column:
    known = F.col("roll_at").isNotNull() & F.col("roll_records").isNotNull()
    closed = (F.col("roll_at") <= F.lit(last_moment(case))) | (F.col("stored_end") >= F.col("roll_records"))
    in_force = F.coalesce(F.col("since") <= F.col("until"), F.lit(True))
    return in_force & (~known | F.coalesce(closed, F.lit(True)))


def _superseded() -> Column:
    later = F.col("latest").isNotNull() & F.coalesce(F.col("latest") > F.col("offset"), F.lit(True))
    return later & F.coalesce(F.col("next_sent") <= F.col("until"), F.lit(True))


def _with_next(events: Events, rows: DataFrame, found: list[Compaction]) -> DataFrame:
    """Add ``next_sent``: when the next record of its key was sent; None if unknown.

    It matters only if compaction ended during the run.
    """
    over = [each.topic for each in found if each.until < last_moment(events.case)]
    if not over:
        return rows.withColumn("next_sent", F.lit(None).cast("long"))
    in_order = Window.partitionBy(*PLACE, "key").orderBy("invoked")
    tried = events.table("sends").withColumnsRenamed(OF_PRODUCER)
    tried = tried.filter(among(F.col("topic"), over) & (F.col("outcome") != "fail"))
    sent = with_key(events, tried).filter(F.col("key").isNotNull())
    sent = sent.select(*VALUE, F.lead("invoked").over(in_order).alias("next_sent"))
    return rows.join(sent, on=list(VALUE), how="left")


def _latest(events: Events, here: Column) -> DataFrame:
    """Return the highest offset of each key in the log, as read_committed shows it."""
    audited = events.table("audit").filter("intact").filter(F.col("isolation") == "read_committed").filter(here)
    keyed = with_key(events, audited).filter(F.col("key").isNotNull())
    return keyed.groupBy(*PLACE, "key").agg(F.max("offset").alias("latest"))
