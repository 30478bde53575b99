"""Deliveries that lie beyond the position that their consumer had sought."""

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
    """One row per seek within an assignment after which the member was given nothing at the offset that it sought.

    Columns as of ``frames.steps``: member, group, assignment, poll, place, offset and at of what it was given next;
    ``before`` and ``before_at`` are the offset before the one it sought, and when it sought that, ``before_poll`` the
    poll that delivered last before. A seek at which an assignment begins is none. What was given at the very time of a
    seek counts as given after it.
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
