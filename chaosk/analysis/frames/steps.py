"""Deliveries that do not directly follow the previous one in the same assignment."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.polled import drift, is_whole, stretches

_TERM = (*MEMBER, *PLACE, "assignment")
_ROW = (*MEMBER, "group", *PLACE, "assignment", "poll", "n", "offset", "at")
_BEFORE = {"": "last", "_at": "at", "_poll": "poll"}


@planned_once
def steps(events: Events) -> DataFrame:
    """Return one row per delivery whose offset is not the next one after the previous delivery.

    The previous delivery is in the same partition and assignment of that member; a first delivery has none and no row.
    Columns: member, group, assignment, poll, n, place, offset, at; ``before``, ``before_at`` and ``before_poll`` are
    offset, time and poll of the previous delivery. Terms are identified by a 64-bit hash, because longs sort faster
    than names.
    """
    in_turn = Window.partitionBy("term").orderBy("n")
    return (
        (_rows(events.table("reads")) if events.small else _in_stretches(events))
        .withColumn("term", F.xxhash64(*_TERM))
        .withColumns({f"before{name}": F.lag(of).over(in_turn) for name, of in _BEFORE.items()})
        .filter(F.col("offset") != F.col("before") + 1)
        .drop("term", "last")
    )


def _rows(reads: DataFrame) -> DataFrame:
    return reads.select(*_ROW, F.col("offset").alias("last"))


def _in_stretches(events: Events) -> DataFrame:
    """Return the first delivery of each complete stretch, with its ``last`` offset, and all others one by one."""
    found = events.frame(stretches)
    whole = found.filter(is_whole()).withColumns({"n": F.col("low") - F.col("drift"), "offset": F.col("low")})
    broken = found.filter(~is_whole()).select(_stretch().alias("stretch"))
    others = events.table("reads").withColumn("drift", drift()).withColumn("stretch", _stretch())
    return whole.select(*_ROW, F.col("high").alias("last")).unionByName(
        _rows(others.join(F.broadcast(broken), on="stretch", how="left_semi"))
    )


def _stretch() -> Column:
    return F.xxhash64(*_TERM, "poll", "at", "drift")
