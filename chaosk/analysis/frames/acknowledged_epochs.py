"""Leader epochs in which a producer had been acknowledged: it sends nothing to an earlier leader after that."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE

_STREAM = ("producer", "producer_incarnation", *PLACE)


def served(events: Events) -> DataFrame:
    """Return one row per producer process, partition and leader epoch whose leader acknowledged a record to it.

    Columns: producer, producer_incarnation, topic, partition, epoch, since (the first acknowledgement). The epoch of a
    record is that of the leader that appended it, as readers and the tail audit saw it at the acknowledged offset.
    """
    found = [
        events.table(table).filter(F.col("intact") & (F.col("leader_epoch") >= 0)).select(
            *VALUE, *PLACE, "offset", F.col("leader_epoch").alias("epoch")
        )
        for table in ("audit", "reads")
    ]  # fmt: skip
    acknowledged = (
        events.table("sends")
        .filter((F.col("outcome") == "ok") & (F.col("offset") >= 0) & F.col("completed").isNotNull())
        .withColumnsRenamed(OF_PRODUCER)
        .select(*VALUE, *PLACE, "offset", "completed")
    )
    return (
        found[0].unionByName(found[1])
        .join(acknowledged, on=[*VALUE, *PLACE, "offset"], how="inner")
        .groupBy(*_STREAM, "epoch")
        .agg(F.min("completed").alias("since"))
    )  # fmt: skip


def with_served(events: Events, rows: DataFrame) -> DataFrame:
    """Add to rows with a value, a place and ``invoked`` the newest epoch in which their producer had been served.

    ``served_epoch``: the newest leader epoch in which the record's producer had been acknowledged, in this partition,
    before it sent the record. ``served_since``: the first such acknowledgement. None without any.
    """
    keyed = rows.select(*VALUE, *PLACE, "invoked")
    newest = (
        keyed.join(events.near(events.frame(served)), on=list(_STREAM), how="inner")
        .filter(F.col("since") <= F.col("invoked"))
        .groupBy(*VALUE)
        .agg(F.max(F.struct("epoch", "since")).alias("served"))
        .select(*VALUE, F.col("served.epoch").alias("served_epoch"), F.col("served.since").alias("served_since"))
    )
    return rows.join(events.near(newest), on=list(VALUE), how="left")
