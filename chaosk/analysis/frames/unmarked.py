"""Records of transactions whose end marker a truncation removed from the log, although it left the records there.

The coordinator has written the marker once, and does not write it again. So the log takes the transaction for an open
one. Its records hold the last stable offset, until the marker of the producer's next transaction ends both.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.truncations import SURE, truncations

UNMARKED = "an unclean election cut off the marker of its transaction"
"""Reason why a record is allowed to be hidden, or shown."""
PERHAPS = "an unclean election may have cut off the marker of its transaction"
"""Reason why such a record is unproven."""
HELD = "an unclean election cut off the marker of a transaction that holds the last stable offset before it"
"""Reason why a record behind such a transaction is allowed to be hidden."""
_CUTS = "topic string, partition int, cut_at long, since long, until long, epoch int, seen boolean"


def unmarked(events: Events) -> DataFrame:
    """Return the records whose transaction's marker may have been cut off: value, place, offset, unmarked, cut_since.

    The tail audit found the record below the cut, in an earlier epoch. Its transaction had ended by then. No record
    that was left was sent after that: its offset would prove that the marker stood before the cut. ``unmarked`` is
    ``UNMARKED``, or ``PERHAPS`` if the truncation is not certain, or the transaction's outcome unknown. ``cut_since``
    is the first time at which the new log was seen.
    """
    certain = [cut for cut in events.once(truncations) if cut.epoch is not None and cut.cut_at > 0]
    rows = [(c.topic, c.partition, c.cut_at, c.since, c.until, c.epoch, c.seen) for c in certain]
    cuts = events.local(rows, _CUTS)
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER).select(*VALUE, "txn", "invoked")
    left = (
        events.table("audit")
        .filter("intact")
        .select(*VALUE, *PLACE, "offset", "leader_epoch")
        .distinct()
        .join(events.near(cuts), on=list(PLACE), how="inner")
        .filter((F.col("offset") < F.col("cut_at")) & (F.col("leader_epoch") < F.col("epoch")))
        .join(sent, on=list(VALUE), how="inner")
        .withColumn("newest", F.max("invoked").over(Window.partitionBy(*PLACE, "epoch")))
        .withColumn("first", F.min("offset").over(Window.partitionBy(*PLACE, "epoch", "txn")))
        .filter(F.col("txn").isNotNull())
    )
    ends = events.table("transactions").select("txn", "outcome", "ended")
    marked = events.table("stretches").select(*PLACE, "first", F.col("marker").alias("marker"))
    ended = F.coalesce(F.when(F.col("outcome") != "info", F.col("ended")), F.col("invoked"))
    known = F.col("seen") & F.coalesce(F.col("outcome") != "info", F.lit(False))
    return (
        left.join(events.near(ends), on="txn", how="left")
        .join(events.near(marked), on=[*PLACE, "first"], how="left")
        .filter(~F.coalesce(F.col("marker") < F.col("cut_at"), F.lit(False)))
        .filter((ended <= F.col("until")) & (F.col("newest") <= ended + F.lit(SURE)))
        .groupBy(*VALUE, *PLACE, "offset")
        .agg(F.bool_or(known).alias("known"), F.min("since").alias("cut_since"))
        .withColumn("unmarked", F.when(F.col("known"), UNMARKED).otherwise(PERHAPS))
        .drop("known")
    )


def with_unmarked(events: Events, rows: DataFrame, on: tuple[str, ...] = VALUE) -> DataFrame:
    """Add ``unmarked`` and ``cut_since`` to rows of records, by the columns that name them; None for other records."""
    if not events.case.transactional or not events.once(truncations):
        return rows.withColumns({"unmarked": F.lit(None).cast("string"), "cut_since": F.lit(None).cast("long")})
    few = events.frame(unmarked).groupBy(*on)
    marks = few.agg(F.max("unmarked").alias("unmarked"), F.min("cut_since").alias("cut_since"))
    return rows.join(events.near(marks), on=list(on), how="left")
