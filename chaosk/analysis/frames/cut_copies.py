"""Records at several places of one log, of which truncations removed all but the last one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.packed import offset_of, packed
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.truncations import Truncation, truncations

RETRIED = "the log with the first copy was cut back, and with it what the brokers knew of the producer"
"""Reason why a copy is allowed: the new leader could not tell that the batch was a retry."""
MAYBE = "the log with the first copy may have been cut back"
"""Reason why a copy is unproven."""


def with_cut_copies(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``copied`` to rows that name a value: ``RETRIED``, ``MAYBE``, or None.

    A leader that is elected uncleanly appends a batch again that only the old leader had. So each copy but the last
    must have been removed by a truncation of its log: it is beyond the cut, of an earlier epoch, and no longer there;
    and the next copy is of the new log. A record that is in the log twice stays a violation, and so does one that was
    acknowledged at a place that was cut off, for an acknowledged record is not sent again.
    """
    cuts = events.once(truncations)
    if not cuts:
        return rows.withColumn("copied", F.lit(None).cast("string"))
    in_turn = Window.partitionBy(*VALUE).orderBy("epoch", "offset")
    following = {name: F.lead(name).over(in_turn) for name in ("epoch", "topic", "partition")}
    copies = _copies(events, rows).withColumns({f"next_{name}": column for name, column in following.items()})
    last = F.col("next_topic").isNull()
    acked = F.col("acked").isNull() | (F.col("acked") == F.col("place"))
    sure = F.when(last, acked).otherwise(_removed(each for each in cuts if each.seen) & F.col("complete"))
    perhaps = F.when(last, acked).otherwise(_removed(cuts))
    answers = copies.groupBy(*VALUE).agg(
        F.bool_and(F.coalesce(sure, F.lit(False))).alias("sure"),
        F.bool_and(F.coalesce(perhaps, F.lit(False))).alias("perhaps"),
        (F.count("*") > 1).alias("several"),
    )
    copied = F.when(F.col("several") & F.col("sure"), RETRIED).when(F.col("several") & F.col("perhaps"), MAYBE)
    known = answers.select(*VALUE, copied.alias("copied"))
    return rows.join(events.near(known), on=list(VALUE), how="left")


def _copies(events: Events, rows: DataFrame) -> DataFrame:
    """Return the places at which readers or the audit saw the values, or their producers were acknowledged."""
    few = events.near(rows.select(*VALUE, "acked"))
    seen = [
        events.table(table).filter("intact").select(
            *VALUE, *PLACE, "offset", F.col("leader_epoch").alias("epoch"), F.lit(table == "audit").alias("kept")
        )
        for table in ("reads", "audit")
    ]  # fmt: skip
    acked = rows.filter(F.col("acked").isNotNull()).select(*VALUE, F.col("acked").alias("place"))
    complete = events.frame(retained).select(*PLACE, "complete")
    return (
        seen[0].unionByName(seen[1])
        .withColumn("place", packed(events.case, F.col("offset")))
        .join(few.select(*VALUE), on=list(VALUE), how="left_semi")
        .unionByName(acked.withColumn("kept", F.lit(False)), allowMissingColumns=True)
        .groupBy(*VALUE, "place")
        .agg(
            F.max("topic").alias("topic"), F.max("partition").alias("partition"), F.max("epoch").alias("epoch"),
            F.bool_or("kept").alias("kept"),
        )
        .join(few, on=list(VALUE), how="inner")
        .withColumn("offset", offset_of(F.col("place")))
        .join(events.near(complete), on=list(PLACE), how="left")
    )  # fmt: skip


def _removed(cuts: Iterator[Truncation] | tuple[Truncation, ...]) -> Column:
    """Return a condition: one of the truncations removed the copy, and the next copy is of a later log."""
    return reduce(or_, (_removed_by(cut) for cut in cuts), F.lit(False))


def _removed_by(cut: Truncation) -> Column:
    holds = (F.col("topic") == cut.topic) & (F.col("partition") == cut.partition) & ~F.col("kept")
    holds = holds & (F.col("next_topic") == cut.topic) & (F.col("next_partition") == cut.partition)
    holds = holds & (F.col("offset") >= cut.cut_at) & (F.col("next_epoch") > F.col("epoch"))
    if cut.epoch is None:
        return holds
    return holds & (F.col("epoch") < cut.epoch) & (F.col("next_epoch") >= cut.epoch)
