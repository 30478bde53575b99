"""Steps of a reader from one of its own transactions to the next."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames.deliveries import MEMBER


def left_to_rewinds(events: Events, rows: DataFrame) -> DataFrame:
    """Remove from ``frames.steps`` the steps out of a transaction that did not commit: ``abort_rewind`` judges them.

    Such a step leads from the last record polled in a transaction that is known to be aborted, or whose outcome is
    unknown, to the next record that the application was given.
    """
    if not events.case.transactional:
        return rows
    open_ended = events.table("transactions").filter(F.col("outcome") != "committed").select("txn")
    polls = events.table("reads").filter(F.col("txn").isNotNull()).select(*MEMBER, "poll", "txn").distinct()
    before = polls.join(events.near(open_ended), on="txn", how="left_semi").select(
        *MEMBER, F.col("poll").alias("before_poll"), F.col("txn").alias("left")
    )
    after = polls.withColumnRenamed("txn", "entered")
    return (
        rows.join(events.near(before), on=[*MEMBER, "before_poll"], how="left")
        .join(events.near(after), on=[*MEMBER, "poll"], how="left")
        .filter(F.col("left").isNull() | F.col("entered").isNull() | (F.col("left") == F.col("entered")))
        .drop("left", "entered")
    )
