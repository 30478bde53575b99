"""Clients that used a ``transactional.id``, one after another, and what each of them sent."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE

CLIENT = ("producer", "producer_incarnation", "producer_epoch")
"""Columns that name one client of a ``transactional.id``."""


@planned_once
def epochs(events: Events) -> DataFrame:
    """One row per client that ended a transaction: who, ``transactional_id``, ``initialized``, ``rank``, ``succeeded``.

    ``rank`` orders the clients of one id, from 1; ``succeeded`` is when the next one of them had initialized it, from
    when on this one may get nothing done (None: never). Clients that ended no transaction are not known.
    """
    in_turn = Window.partitionBy("transactional_id").orderBy("initialized", *CLIENT)
    return (
        events.table("transactions")
        .withColumnsRenamed(OF_PRODUCER)
        .groupBy("transactional_id", *CLIENT)
        .agg(F.min("initialized").alias("initialized"))
        .withColumn("rank", F.row_number().over(in_turn))
        .withColumn("succeeded", F.lead("initialized").over(in_turn))
        .select("transactional_id", *CLIENT, "initialized", "rank", "succeeded")
    )


def sent_in_transactions(events: Events) -> DataFrame:
    """One row per attempt in a transaction: value, place, offset, times, outcome, txn and producer_epoch."""
    return (
        events.table("sends")
        .filter(F.col("txn").isNotNull())
        .withColumnsRenamed(OF_PRODUCER)
        .select(
            *VALUE, *PLACE, F.when(F.col("offset") >= 0, F.col("offset")).alias("offset"), "invoked", "completed",
            "outcome", "txn", "producer_epoch",
        )
    )  # fmt: skip


@planned_once
def audited(events: Events) -> DataFrame:
    """One row per record of this run that the tail audit found: value, place, offset, ``visible`` (read_committed)."""
    return (
        events.table("audit")
        .filter("intact")
        .groupBy(*VALUE, *PLACE, "offset")
        .agg(F.bool_or(F.col("isolation") == "read_committed").alias("visible"))
    )
