"""Inputs and outputs of transactional applications that their logs have lost since, and why."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.absent import EXCUSED, absent
from chaosk.analysis.frames.deleted_retries import passed_before
from chaosk.analysis.frames.truncations import SURE
from chaosk.analysis.observed_settings import compacted
from chaosk.analysis.screens import screened

INPUT = ("group", *PLACE, "offset")
"""Columns that identify an input of an application."""
LATE = "late"
"""Severity of an input that may have been removed before its group went on beyond it."""
UNDECIDED = "compaction may have removed its output, if the transaction of that was committed"
"""Reason why a missing output is unproven."""


def with_input_answers(events: Events, rows: DataFrame, pipes: Iterable[str]) -> DataFrame:
    """Add ``input_severity``, ``input_reason`` and ``passed_at`` to rows of inputs (``INPUT``).

    They are the log's answer about the record that the application polled there last (``frames.absent``). They are None
    if the log has it, or if it was polled in a transaction that committed: its output was due then. A record that was
    removed as its topic's settings allow is owed to nobody: ``EXCUSED``. But the answer is None if the group went on
    beyond it, after the last transaction that aborted, while the log must still have had it. It is ``LATE`` if that was
    less than ``SURE`` before, or if a transaction in which it was polled is of unknown fate. ``passed_at``: when the
    group went on.
    """
    unknown = F.lit(None)
    if not events.once(screened)["missing"]:
        names = {"input_severity": unknown.cast("string"), "input_reason": unknown.cast("string")}
        return rows.withColumns({**names, "passed_at": unknown.cast("long")})
    answers = events.frame(absent).select(
        *VALUE, F.col("severity").alias("input_severity"), F.col("reason").alias("input_reason")
    )
    gone = _polled(events, pipes).join(events.near(answers), on=list(VALUE), how="inner")
    times = passed_before(events, gone)
    known = gone.select(*INPUT, "input_severity", "input_reason", "sure").join(
        events.near(times), on=list(INPUT), how="left"
    )
    removed, early = F.col("input_severity") == EXCUSED, F.coalesce("before", F.lit(0).cast("long"))
    severity = (
        F.when(removed & (early > SURE), F.lit(None))
        .when(removed & ((early > 0) | ~F.col("sure")), F.lit(LATE))
        .otherwise(F.col("input_severity"))
    )
    few = known.withColumn("input_severity", severity).select(*INPUT, "input_severity", "input_reason", "passed_at")
    return rows.join(events.near(few), on=list(INPUT), how="left")


def _polled(events: Events, pipes: Iterable[str]) -> DataFrame:
    """Return the record that applications polled last at each offset: ``INPUT``, its value, ``last_at``, ``sure``.

    Offsets that were polled in a transaction that committed are left out. ``last_at``: the end of the last of their
    transactions, else the last poll. ``sure``: all of these are known to have aborted.
    """
    ends = events.table("transactions").select("txn", "outcome", "ended")
    mine = events.table("reads").filter(among(F.col("probe"), pipes) & F.col("intact"))
    return (
        mine.join(events.near(ends), on="txn", how="left")
        .groupBy(*INPUT)
        .agg(
            F.max_by(F.struct(*VALUE), "at").alias("value"), F.coalesce(F.max("ended"), F.max("at")).alias("last_at"),
            F.bool_or(F.coalesce(F.col("outcome") == "committed", F.lit(False))).alias("done"),
            F.bool_and(F.coalesce(F.col("outcome") == "aborted", F.lit(False))).alias("sure"),
        )
        .filter(~F.col("done"))
        .select(*INPUT, "value.*", "last_at", "sure")
    )  # fmt: skip


def with_output_answers(events: Events, rows: DataFrame, made: DataFrame) -> DataFrame:
    """Add ``out_removed``, ``out_open`` and ``out_undecided`` to rows of inputs, about the outputs ``made`` of them.

    ``out_removed``: an output of a committed transaction was removed as its topic's settings allow. ``out_open``: the
    reason why that is not known. ``out_undecided``: an output in a compacted topic is of a transaction of unknown fate,
    so that it may have been removed. ``made`` has ``INPUT`` and the output's value; None for an input that was polled.
    """
    none = {"out_removed": F.lit(False), "out_open": F.lit(None).cast("string"), "out_undecided": F.lit(False)}
    if not events.once(screened)["missing"]:
        return rows.withColumns(none)
    outputs = made.filter(F.col("seq").isNotNull()).select(*INPUT, *VALUE)
    answers = events.frame(absent).select(*VALUE, "severity", "reason")
    known = outputs.join(events.near(answers), on=list(VALUE), how="left").join(
        _undecided(events), on=list(VALUE), how="left"
    )
    answered = known.groupBy(*INPUT).agg(
        F.bool_or(F.coalesce(F.col("severity") == EXCUSED, F.lit(False))).alias("out_removed"),
        F.max(F.when(F.col("severity") == "unproven", F.col("reason"))).alias("out_open"),
        F.bool_or(F.coalesce("undecided", F.lit(False))).alias("out_undecided"),
    )
    joined = rows.join(events.near(answered), on=list(INPUT), how="left")
    return joined.withColumns({name: F.coalesce(name, value) for name, value in none.items()})


def _undecided(events: Events) -> DataFrame:
    """Return the values in compacted topics that were sent in a transaction of unknown fate, with ``undecided``."""
    topics = [topic for topic in events.case.topics if compacted(events.case, topic)]
    decided = events.table("transactions").filter(F.col("outcome") != "info").select("txn")
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER)
    sent = sent.filter(among(F.col("topic"), topics) & F.col("txn").isNotNull() & (F.col("outcome") != "fail"))
    return sent.join(decided, on="txn", how="left_anti").select(*VALUE).distinct().withColumn("undecided", F.lit(True))
