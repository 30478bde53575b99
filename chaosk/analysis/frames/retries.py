"""Evidence that a client may have sent a record more than once.

A client sends a record again if a request timed out, its connection broke, or a broker refused it. Each of these takes
long, or leaves a trace: an error of the client, a closed connection, a change of leader, or a fault at that time. With
``retries: 0`` librdkafka still sends again after a change of leader, since it assumes that nothing was written.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.truncations import SURE
from chaosk.analysis.producer_settings import DEFAULT_TIMEOUT, request_timeouts, without_retries

UNWATCHED = "retries is 0, and no sample shows if the leader changed, after which a client sends again all the same"
"""Reason why a copy of a producer without retries is left open."""
UNWITNESSED = "enable.idempotence is off, and no error, delay, fault or change of leader shows that it was sent again"
"""Reason why a copy of a producer with retries is left open."""
_PRODUCER = ("producer", "producer_incarnation")
_FOREVER = 2**62


def with_retries(events: Events, rows: DataFrame, prefix: str = "") -> DataFrame:
    """Add ``once``, ``moved``, ``watched`` and ``troubled`` to rows that name a producer and a place.

    They are about the send whose ``outcome``, ``invoked`` and ``completed`` are in columns with the prefix. ``once``:
    its producer has ``retries: 0``. ``moved``: the partition's leader changed about then. ``watched``: samples name
    the leader until then. ``troubled``: it was not acknowledged, took as long as a request may, or the client met an
    error or there was a fault about then. The time of a send that nobody wrote down may be any.
    """
    case = events.case
    began = F.coalesce(f"{prefix}invoked", F.lit(0))
    ended = F.coalesce(f"{prefix}completed", F.lit(_FOREVER).cast("long"))
    timed = rows.withColumns({"sent_from": began - F.lit(SURE), "sent_until": ended + F.lit(SURE)})
    named = _with_errors(events, _with_leaders(events, timed))
    unanswered = F.coalesce(f"{prefix}outcome", F.lit("unknown")) != "ok"
    troubled = unanswered | (ended - began >= _timeout(case)) | _in_fault(case, ended) | F.col("erred")
    complete = F.lit(not case.short("partitions"))
    watched = complete & F.coalesce(
        F.col("sampled") >= F.coalesce(f"{prefix}completed", f"{prefix}invoked", F.lit(0)), F.lit(False)
    )
    once = among(F.col("producer"), without_retries(case))
    return named.withColumns({"once": once, "watched": watched, "troubled": troubled}).drop(
        "sent_from", "sent_until", "sampled", "erred"
    )


def resent(loose: Column, allowed: str) -> Iterator[tuple[Column, str, str]]:
    """Yield the cases for ``meaning`` in which a retry of a ``loose`` producer is known to have been possible."""
    yield loose & (F.col("moved") | (~F.col("once") & F.col("troubled"))), "allowed", allowed


def maybe_resent(loose: Column) -> Iterator[tuple[Column, str, str]]:
    """Yield the other cases for ``meaning`` of a ``loose`` producer in which a retry cannot be excluded."""
    yield loose & ~F.col("once"), "unproven", UNWITNESSED
    yield loose & ~F.col("watched"), "unproven", UNWATCHED


def _timeout(case: Case) -> Column:
    timeout = F.lit(DEFAULT_TIMEOUT)
    for probe, nanoseconds in request_timeouts(case).items():
        timeout = F.when(F.col("producer") == probe, F.lit(nanoseconds)).otherwise(timeout)
    return timeout


def _in_fault(case: Case, ended: Column) -> Column:
    """Return a condition: a fault had begun when the outcome was known, and was not over for long when it was sent."""
    holds = F.lit(False)
    for span in case.fault_spans:
        holds = holds | ((F.lit(span.began) <= ended) & (F.lit(span.ended) >= F.col("sent_from")))
    return holds


def _with_leaders(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``sampled``, the time of the last sample with a leader epoch, and ``moved``.

    A change lasts from the first sample with the new epoch to the last one of any broker with an older epoch.
    """
    in_turn = Window.partitionBy(*PLACE).orderBy("leader_epoch").rowsBetween(Window.unboundedPreceding, -1)
    epochs = (
        events.table("partitions")
        .filter(F.col("leader_epoch").isNotNull())
        .groupBy(*PLACE, "leader_epoch")
        .agg(F.min("at").alias("named"), F.max("at").alias("last"))
        .withColumn("earlier", F.max("last").over(in_turn))
        .withColumn("known_until", F.greatest("named", "earlier"))
    )
    sampled = epochs.groupBy(*PLACE).agg(F.max("last").alias("sampled"))
    here = [F.col(f"row.{name}") == F.col(f"epoch.{name}") for name in PLACE]
    here += [F.col("epoch.named") <= F.col("row.sent_until"), F.col("epoch.known_until") >= F.col("row.sent_from")]
    moved = _marked(events, rows, epochs.filter(F.col("earlier").isNotNull()).alias("epoch"), here, "moved")
    return moved.join(events.near(sampled), on=list(PLACE), how="left")


def _with_errors(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``erred``: the producer's client met an error, lost a connection, or failed to write about then."""
    mine = [
        F.col("row.producer") == F.col("error.probe"),
        F.col("row.producer_incarnation") == F.col("error.incarnation"),
    ]
    mine += [F.col("error.began") <= F.col("row.sent_until"), F.col("error.ended") >= F.col("row.sent_from")]
    return _marked(events, rows, _errors(events).alias("error"), mine, "erred")


def _marked(events: Events, rows: DataFrame, other: DataFrame, on: list[Column], name: str) -> DataFrame:
    """Add a column: True if a row of ``other`` matches."""
    marks = rows.alias("row").join(events.near(other), on=on, how="left_semi").select(*_KEY).distinct()
    marked = rows.join(events.near(marks.withColumn(name, F.lit(True))), on=list(_KEY), how="left")
    return marked.withColumn(name, F.coalesce(name, F.lit(False)))


_KEY = (*_PRODUCER, "seq", *PLACE)


def _errors(events: Events) -> DataFrame:
    """Return the stretches in which a process met errors, with pauses of ``2 * SURE`` at most.

    Columns: probe, incarnation, began, ended.
    """
    process = ("probe", "incarnation")
    lost = events.table("connections").filter(F.col("event").isin("closed", "failed") & ~F.col("idle"))
    failed = events.table("sends").filter((F.col("outcome") != "ok") & F.col("completed").isNotNull())
    times = events.table("errors").select(*process, "at")
    times = times.unionByName(lost.select(*process, F.coalesce("at", "seen").alias("at")))
    times = times.unionByName(failed.select(*process, F.col("completed").alias("at")))
    in_turn = Window.partitionBy(*process).orderBy("at")
    apart = F.coalesce(F.col("at") - F.lag("at").over(in_turn) > 2 * SURE, F.lit(True)).cast("int")
    return (
        times.withColumn("apart", apart)
        .withColumn("stretch", F.sum("apart").over(in_turn))
        .groupBy(*process, "stretch")
        .agg(F.min("at").alias("began"), F.max("at").alias("ended"))
        .select(*process, "began", "ended")
    )
