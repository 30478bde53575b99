"""Records owed to each reader of each partition: start, progress and owner."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.debts import SCHEMA
from chaosk.analysis.debts import debts as told
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.truncations import SURE

OWED = ("reader", *PLACE)
"""Columns that identify a partition of a reader."""


def debts(events: Events) -> DataFrame:
    """Return one row per partition that a reader is owed (see ``analysis.debts``), whether or not it was ever given it.

    ``OWED``, ``start`` (the first offset owed; None if unknown), ``reached`` (the highest offset given), ``lowest`` and
    ``first_at`` (the lowest offset given, and the time of the first delivery), ``beyond`` (the offset up to which a
    member sought after it had begun to read, or began anew at the end), ``known_at`` (when it had its start position),
    absences, latest, mixed, since, orphaned, patience, dismissed, dismissed_at.
    """
    read = (
        events.frame(polled)
        .groupBy(*OWED, *MEMBER)
        .agg(F.min("low").alias("lowest"), F.max("high").alias("reached"), F.min("at").alias("first_at"))
        .groupBy(*OWED)
        .agg(
            F.min("lowest").alias("lowest"), F.max("reached").alias("reached"), F.min("first_at").alias("first_at"),
            F.max("lowest").alias("last_begun"),
        )
    )  # fmt: skip
    rows = events.local(told(events.case), SCHEMA).join(events.near(read), on=list(OWED), how="left")
    by_seek = F.coalesce(
        F.col("sought_at").isNotNull() & (F.col("first_at").isNull() | (F.col("sought_at") <= F.col("first_at"))),
        F.lit(False),
    )
    reset = F.when(~F.col("latest"), F.lit(0).cast("long"))
    position = F.when(by_seek, F.col("sought")).when(F.col("asked"), F.coalesce("found", reset))
    unanswered = F.exists("absences", lambda absence: absence["end"].isNull())
    known_at = F.when(by_seek, F.col("sought_at")).when(F.col("asked"), F.col("answered"))
    return (
        rows.withColumns({"position": F.coalesce(position, "assumed"), "known_at": known_at})
        .select(
            *OWED, F.when(F.col("position").isNotNull(), F.least("position", "lowest")).alias("start"), "reached",
            "lowest", "first_at",
            F.greatest(
                "later", F.when(~by_seek, F.col("sought")), F.when(unanswered, F.col("last_begun"))
            ).alias("beyond"),
            "absences", "latest", "mixed", "since", "orphaned", "patience", "dismissed", "dismissed_at", "known_at",
        )
    )  # fmt: skip


def while_away(at: Column) -> Column:
    """Return a condition on a record's ``offset``, the ``absences`` of its reader and a time of its send.

    It came between two processes of a reader that begins at the end of the log each time.
    """

    def between(absence: Column) -> Column:
        below = F.coalesce(F.col("offset") < absence["end"], F.lit(False))
        return (at >= absence["since"] - F.lit(SURE)) & ((at <= absence["until"]) | below)

    return F.coalesce(F.exists("absences", between), F.lit(False))
