"""Records that a log lacks only since a reader had passed them: their removal does not excuse that reader."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.absent import DELETED, REMADE, SUPERSEDED
from chaosk.analysis.frames.debts import OWED
from chaosk.analysis.frames.deliveries import reads
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.removals import before_deletion, deletions, superseded_at, with_kept_until
from chaosk.analysis.frames.truncations import DARK, DARK_UNSEEN, UNCLEAN, UNSEEN, excused, preceded, truncations
from chaosk.analysis.observed_settings import compacted

_ROW = ("reader", *VALUE)
_CUTS = (UNCLEAN, DARK, UNSEEN, DARK_UNSEEN)
_TIMED = (*DELETED, SUPERSEDED, REMADE, *_CUTS)
"""Reasons for which a record leaves a log at some time, so that a reader may have passed it before."""


def in_time(events: Events, rows: DataFrame) -> DataFrame:
    """Replace the log's answer (``log_severity``, ``log_reason``) of records that their reader had passed before.

    A reader passed a record when it was first given a later one of the partition. If the record was still in the log
    then, the next answer of the log counts, or none: then the reader had to be given the record. Rows have ``lone``
    (see ``frames.absent``), offset, invoked and completed.
    """
    if not events.once(_removals):
        return rows
    gone = rows.filter(F.col("log_reason").isin(*_TIMED))
    few = gone.select(*_ROW, *PLACE, "offset", "invoked")
    times = _with_passage(events, few)
    times = with_kept_until(events, times, "offset")
    if any(compacted(events.case, topic) for topic in events.case.topics):
        times = times.join(superseded_at(events), on=list(VALUE), how="left")
    else:
        times = times.withColumn("superseded_at", F.lit(None).cast("long"))
    timed = ("passed_at", "passed_epoch", "kept_until", "superseded_at")
    joined = rows.join(times.select(*_ROW, *timed), on=list(_ROW), how="left")
    return joined.withColumns(_answers(events)).drop(*timed)


def _removals(events: Events) -> bool:
    """Return True if anything may have been removed from a log."""
    compact = any(compacted(events.case, topic) for topic in events.case.topics)
    return compact or bool(events.case.former.topics or events.once(truncations)) or events.once(deletions)


def _with_passage(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``passed_at`` and ``passed_epoch``, the first time and the lowest epoch of deliveries beyond the offset.

    ``passed_at`` is None if the first one was before the record was sent: another log was read then.
    """
    given = events.frame(polled).select(*OWED, F.col("high").alias("offset"), "at")
    in_epoch = reads(events).filter(F.col("leader_epoch") >= 0).groupBy(*OWED, F.col("leader_epoch").alias("epoch"))
    ends = in_epoch.agg(F.max("offset").alias("offset"))
    points = rows.unionByName(given, allowMissingColumns=True).unionByName(ends, allowMissingColumns=True)
    beyond = Window.partitionBy(*OWED).orderBy(F.col("offset").desc()).rangeBetween(Window.unboundedPreceding, -1)
    first = F.min("at").over(beyond)
    return (
        events.gathered(points)
        .withColumns({"passed_epoch": F.min("epoch").over(beyond), "first": first})
        .filter(F.col("producer").isNotNull())
        .withColumn("passed_at", F.when(F.col("first") >= F.col("invoked"), F.col("first")))
        .select(*rows.columns, "passed_at", "passed_epoch")
    )


def _answers(events: Events) -> dict[str, Column]:
    offset, answered, passed = F.col("offset"), F.col("completed"), F.col("passed_at")
    reason = F.col("log_reason")
    later_cut = preceded(events, offset, answered, passed, F.col("passed_epoch"))
    late = (reason.isin(*DELETED) & before_deletion(passed)) | (reason.isin(*_CUTS) & later_cut)
    late = late | ((reason == SUPERSEDED) & F.coalesce(passed < F.col("superseded_at"), F.lit(False)))
    late = late | ((reason == REMADE) & passed.isNotNull() & _of_first_topic(events))
    late = F.coalesce(late, F.lit(False))
    severity = F.when(F.col("lone").isNotNull(), F.lit("allowed"))
    why = F.col("lone")
    for cut, word, name in excused(events, offset, answered):
        holds = F.coalesce(cut & ~later_cut, F.lit(False))
        severity = F.when(holds, F.lit(word)).otherwise(severity)
        why = F.when(holds, F.lit(name)).otherwise(why)
    return {
        "log_severity": F.when(late, severity).otherwise(F.col("log_severity")),
        "log_reason": F.when(late, why).otherwise(reason),
    }


def _of_first_topic(events: Events) -> Column:
    """Return a condition: the record was acknowledged before its topic was deleted for the first time."""
    first = F.lit(False)
    for topic, remaking in events.case.former.topics.items():
        first = first | ((F.col("topic") == topic) & (F.col("completed") < remaking.gone[0]))
    return first
