"""Successive clients of a ``transactional.id``, and their sends."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE

CLIENT = ("producer", "producer_incarnation", "producer_epoch")
"""Columns that identify one client of a ``transactional.id``."""


@planned_once
def epochs(events: Events) -> DataFrame:
    """Return one row per client that ended a transaction: client, id, ``initialized``, ``rank``, ``succeeded``.

    ``rank`` orders the clients of one id, from 1. ``succeeded`` is the time at which the next one had initialized the
    id, after which this one is fenced (None: never). Clients that ended no transaction are unknown.
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
    """Return one row per attempt in a transaction: value, place, offset, times, outcome, txn and producer_epoch."""
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
    """Return one row per record of this run in the tail audit: value, place, offset, ``visible`` (read_committed)."""
    return (
        events.table("audit")
        .filter("intact")
        .groupBy(*VALUE, *PLACE, "offset")
        .agg(F.bool_or(F.col("isolation") == "read_committed").alias("visible"))
    )
