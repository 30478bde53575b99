"""Records that a group sought back to, and that their topic's settings removed before it could read them again."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.absent import EXCUSED, absent
from chaosk.analysis.frames.removals import superseded_at, with_kept_until
from chaosk.analysis.frames.truncations import SURE
from chaosk.analysis.observed_settings import compacted

_RETRYING = ("seek_back", "dead_letter")
"""Handlings that may seek back, as the scenario names them."""
_SPOT = ("group", *PLACE, "offset")


def without_deleted(events: Events, failed: DataFrame) -> DataFrame:
    """Return failed records without those that were removed before they could be read again, and add ``late``.

    ``failed``: one row per group and value with place, offset, ``handling`` (of the last failure) and ``last_at``. A
    record was removed in time if the log excuses its absence, and its group had not gone on beyond it, by a delivery or
    a commit, while the record must still have been there. ``late``: it had, but less than ``SURE`` before.
    """
    if not _seeks_back(events.case):
        return failed.withColumn("late", F.lit(False))
    gone = events.frame(absent).filter(F.col("severity") == EXCUSED).select(*VALUE, F.lit(True).alias("removed"))
    removed = failed.filter(F.col("handling") == "seek_back").join(events.near(gone), on=list(VALUE), how="inner")
    answers = passed_before(events, removed).select(*_SPOT, "before")
    known = failed.join(events.near(answers), on=list(_SPOT), how="left")
    return (
        known.filter(F.col("before").isNull() | (F.col("before") > 0))
        .withColumn("late", F.coalesce(F.col("before") <= SURE, F.lit(False)))
        .drop("before")
    )


def passed_before(events: Events, removed: DataFrame) -> DataFrame:
    """Return by group and record ``passed_at``, when the group went on beyond it, and by how much that was too early.

    ``removed``: one row per group and value with place, offset and ``last_at``, after which the group was to have it
    again. ``before``: nanoseconds from ``passed_at`` until the last time at which the log must have had the record; 0
    if the group did not go on, or the log never must have had it.
    """
    times = _passed(events, removed).join(_kept(events, removed), on=list(_SPOT), how="left")
    before = F.col("kept_until") - F.col("passed_at")
    return times.select(*_SPOT, "passed_at", F.coalesce(before, F.lit(0).cast("long")).alias("before"))


def _seeks_back(case: Case) -> bool:
    """Return True if a consumer of the scenario may seek back to a record that it failed to process."""
    settings = ((kinds.get("consume") or {}).get("failing") or {} for kinds in case.plan.probes.values())
    return any(each.get("handling") in _RETRYING for each in settings)


def _passed(events: Events, removed: DataFrame) -> DataFrame:
    """Return ``passed_at`` by group and record: its first delivery or commit beyond the record after the failure."""
    spots = events.near(removed.select(*(F.col(name).alias(f"_{name}") for name in (*_SPOT, "last_at"))))
    here = [F.col(name) == F.col(f"_{name}") for name in ("group", *PLACE)]
    read = events.table("reads").select("group", *PLACE, "offset", "at")
    asked = events.table("commits").select("group", *PLACE, "offset", F.col("invoked").alias("at"))
    later = [F.col("offset") > F.col("_offset"), F.col("at") > F.col("_last_at")]
    first = (
        read.unionByName(asked)
        .join(spots, on=[*here, *later], how="inner")
        .groupBy(*(F.col(f"_{name}").alias(name) for name in _SPOT))
        .agg(F.min("at").alias("passed_at"))
    )
    return removed.select(*_SPOT).distinct().join(first, on=list(_SPOT), how="left")


def _kept(events: Events, removed: DataFrame) -> DataFrame:
    """Return ``kept_until`` by group and record: the last time at which the log must have had it.

    That is the last sample of a leader with a log start up to the record; in a compacted topic the sending of the first
    later record of its key, if that was before.
    """
    spots = with_kept_until(events, removed.select(*_SPOT, *VALUE), "offset")
    if not any(compacted(events.case, topic) for topic in events.case.topics):
        return spots.select(*_SPOT, "kept_until")
    replaced = spots.join(superseded_at(events), on=list(VALUE), how="left")
    return replaced.select(*_SPOT, F.least("kept_until", "superseded_at").alias("kept_until"))
