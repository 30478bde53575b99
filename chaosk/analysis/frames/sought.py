"""Deliveries beyond the position that their consumer sought."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.polled import polled

_TERM = (*MEMBER, *PLACE, "assignment")
_BEFORE = {"before_assignment": "assignment", "before_poll": "poll"}


def sought(events: Events) -> DataFrame:
    """Return one row per seek within an assignment whose next delivery was beyond the offset sought.

    Columns as in ``frames.steps``: member, group, assignment, poll, place, offset and at of the next delivery.
    ``before`` is the offset before the one sought, ``before_at`` the time of the seek, and ``before_poll`` the last
    earlier poll with a delivery. A seek at which an assignment begins is excluded. A delivery at the time of a seek
    counts as after it.
    """
    given = events.frame(polled).select(*_TERM, "group", "poll", F.col("low").alias("offset"), "at")
    seeks = events.table("seeks").select(*MEMBER, *PLACE, F.col("offset").alias("sought"), "at")
    in_turn = Window.partitionBy(*MEMBER, *PLACE).orderBy("at", F.col("sought").isNull())
    earlier = in_turn.rowsBetween(Window.unboundedPreceding, -1)
    rows = given.unionByName(seeks, allowMissingColumns=True)
    before = {name: F.last(of, ignorenulls=True).over(earlier) for name, of in _BEFORE.items()}
    return (
        rows.withColumns(
            {"before": F.lag("sought").over(in_turn) - 1, "before_at": F.lag("at").over(in_turn), **before}
        )
        .filter((F.col("assignment") == F.col("before_assignment")) & (F.col("offset") > F.col("before") + 1))
        .drop("sought", "before_assignment")
    )
