"""Successive clients of a ``transactional.id``, and their sends."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE

CLIENT = ("producer", "producer_incarnation", "producer_epoch")
"""Columns that identify one client of a ``transactional.id``."""
_FENCED = "producer string, producer_incarnation int, started long, fenced_at long"
"""Processes that were fenced."""


@planned_once
def epochs(events: Events) -> DataFrame:
    """Return one row per client that ended a transaction: client, id, ``initialized``, ``rank``, ``succeeded``.

    ``rank`` orders the clients of one id, from 1. ``succeeded`` is the time at which the next one had initialized the
    id, after which this one is fenced (None: never). Clients that ended no transaction are unknown, and those that
    :func:`_overtaken` returns are excluded.
    """
    in_turn = Window.partitionBy("transactional_id").orderBy("initialized", *CLIENT)
    known = _initialized(events)
    if events.case.fenced:
        known = known.join(events.near(_overtaken(events, known)), on=list(CLIENT), how="left_anti")
    return (
        known.withColumn("rank", F.row_number().over(in_turn))
        .withColumn("succeeded", F.lead("initialized").over(in_turn))
        .select("transactional_id", *CLIENT, "initialized", "rank", "succeeded")
    )


def _initialized(events: Events) -> DataFrame:
    """Return the clients that ended a transaction: id, client and the time at which the id was initialized."""
    return (
        events.table("transactions")
        .withColumnsRenamed(OF_PRODUCER)
        .groupBy("transactional_id", *CLIENT)
        .agg(F.min("initialized").alias("initialized"))
    )


def _overtaken(events: Events, known: DataFrame) -> DataFrame:
    """Return clients that another one fenced which had initialized the id before, as far as the answers say.

    Initializations are timed by their answers. If two clients initialize an id at nearly the same time, the answer to
    the first one may come last. That is so if the client was fenced and none had initialized the id between its own
    initialization and that; if another process had initialized it after the client's process started; and if none of
    the client's records was acknowledged or is visible. Such a client is no successor of the other one.
    """
    case = events.case
    started = {(worker.probe, worker.incarnation): worker.started for worker in case.workers}
    rows = [(*process, started[process], at) for process, at in sorted(case.fenced.items()) if process in started]
    fenced = events.local(rows, _FENCED)
    wrote = sent_in_transactions(events).join(
        events.near(audited(events).filter("visible").select(*VALUE).distinct().withColumn("there", F.lit(True))),
        on=list(VALUE), how="left",
    ).filter((F.col("outcome") == "ok") | F.col("there")).select(*CLIENT).distinct()  # fmt: skip
    suspects = known.join(events.near(fenced), on=["producer", "producer_incarnation"], how="inner")
    suspects = suspects.join(events.near(wrote), on=list(CLIENT), how="left_anti")
    others = known.select(
        F.col("transactional_id"), F.col("initialized").alias("other_at"),
        F.struct("producer", "producer_incarnation").alias("other"),
    )  # fmt: skip
    first = (F.col("other_at") >= F.col("started")) & (F.col("other_at") <= F.col("initialized"))
    third = (F.col("other_at") > F.col("initialized")) & (F.col("other_at") <= F.col("fenced_at"))
    return (
        suspects.join(events.near(others), on="transactional_id", how="inner")
        .filter(F.col("other") != F.struct("producer", "producer_incarnation"))
        .groupBy(*CLIENT)
        .agg(F.bool_or(first).alias("first"), F.bool_or(third).alias("third"))
        .filter(F.col("first") & ~F.col("third"))
        .select(*CLIENT)
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
