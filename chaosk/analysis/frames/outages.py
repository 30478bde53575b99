"""Outages: gaps in which there was work to do, of producers and of consumers."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.deliveries import reads
from chaosk.analysis.frames.gaps import SHORTEST, gaps
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.frames.values import given_to, values

_WRITER = ("producer", "producer_incarnation", *PLACE)
_READER = ("reader", *PLACE)
_TIMES_BASELINE = 10
_SHARE = 0.99


def produce_outages(events: Events) -> DataFrame:
    """Stretches in which a producer's process had sends waiting for a partition and none was acknowledged.

    Columns: producer, producer_incarnation, topic, partition, began, ended, censored (whether it was still going on at
    the process's last outcome), failed and uncertain (sends with that outcome during it), errors.
    """
    attempts = sends(events)
    known = attempts.filter(F.col("partition").isNotNull())
    ok = known.filter(F.col("outcome") == "ok")
    # The first send's due time stands for an acknowledgement, so that a start which takes long is a gap as well.
    starts = known.groupBy(*_WRITER).agg(F.min("scheduled").alias("completed"))
    marks = ok.select(*_WRITER, "completed").unionByName(starts)
    closed = gaps(marks, _WRITER, "completed").withColumn("censored", F.lit(False))
    candidates = closed.unionByName(_unclosed(events, attempts, marks)).join(
        events.near(_ordinary(events, ok)), on="producer", how="left"
    )
    waiting = _waiting(events, candidates, attempts)
    threshold = F.greatest(F.lit(SHORTEST), F.coalesce("ordinary", F.lit(0)) * _TIMES_BASELINE)
    return waiting.filter(F.col("ended") - F.col("began") >= threshold).select(
        *_WRITER, "began", "ended", "censored", "failed", "uncertain", "errors"
    )


def _unclosed(events: Events, attempts: DataFrame, marks: DataFrame) -> DataFrame:
    """Per process and partition the stretch after its last acknowledgement, if sends came to nothing after it."""
    last = marks.groupBy(*_WRITER).agg(F.max("completed").alias("opened"))
    bad = attempts.filter(F.col("outcome") != "ok").withColumn("over", F.coalesce("completed", "scheduled"))
    # A send that failed before the client chose a partition waited for any of its topic's.
    same = [F.col(f"last.{name}") == F.col(f"bad.{name}") for name in _WRITER[:3]]
    here = F.col("bad.partition").isNull() | (F.col("bad.partition") == F.col("last.partition"))
    return (
        events.near(last)
        .alias("last")
        .join(bad.alias("bad"), on=[*same, here, F.col("bad.over") > F.col("last.opened")], how="inner")
        .groupBy(*(F.col(f"last.{name}") for name in (*_WRITER, "opened")))
        .agg(F.max("bad.over").alias("closed"))
        .filter(F.col("closed") - F.col("opened") >= SHORTEST)
        .select(*_WRITER, "opened", "closed", F.lit(True).alias("censored"))
    )


def _ordinary(events: Events, ok: DataFrame) -> DataFrame:
    """By producer the 99th percentile of the gaps between acknowledgements of a partition in the baseline."""
    baseline = events.case.baseline
    low, high = (baseline.began, baseline.ended) if baseline else (0, 0)
    before = F.lag("completed").over(Window.partitionBy(*_WRITER).orderBy("completed"))
    by_length = Window.partitionBy("producer").orderBy("gap")
    return (
        ok.filter(F.col("completed").between(low, high))
        .withColumn("gap", F.col("completed") - before)
        .filter(F.col("gap").isNotNull())
        .withColumn("share", F.cume_dist().over(by_length))
        .filter(F.col("share") >= _SHARE)
        .groupBy("producer")
        .agg(F.min("gap").alias("ordinary"))
    )


def _waiting(events: Events, candidates: DataFrame, attempts: DataFrame) -> DataFrame:
    """Gaps cut down to when the first send that waited in them was due, with what became of the sends meanwhile."""
    same = [F.col(f"gap.{name}") == F.col(f"send.{name}") for name in _WRITER[:3]]
    here = F.col("send.partition").isNull() | (F.col("send.partition") == F.col("gap.partition"))
    over = F.coalesce("send.completed", F.lit(2**62))
    meanwhile = (over > F.col("gap.opened")) & (F.col("send.scheduled") < F.col("gap.closed"))
    names = [F.col(f"gap.{name}") for name in (*_WRITER, "opened", "closed", "censored", "ordinary")]
    return (
        events.near(candidates).alias("gap")
        .join(attempts.alias("send"), on=[*same, here, meanwhile], how="inner")
        .groupBy(*names)
        .agg(
            F.min("send.scheduled").alias("due"),
            F.count_if(F.col("send.outcome") == "fail").alias("failed"),
            F.count_if(F.col("send.outcome") == "info").alias("uncertain"),
            F.concat_ws(", ", F.array_sort(F.collect_set("send.error"))).alias("errors"),
        )
        .withColumn("began", F.greatest("opened", "due"))
        .withColumn("ended", F.col("closed"))
    )  # fmt: skip


def consume_outages(events: Events) -> DataFrame:
    """Stretches in which a group (or a consumer without one) got nothing of a partition although there was something.

    Columns: reader, topic, partition, began, ended, censored. It begins when the first record that waited was
    acknowledged, or with the last delivery if that was later.
    """
    rows = reads(events)
    due = sends(events).filter("written").select(*VALUE, "completed")
    closing = rows.select(*_READER, F.col("at").alias("closed"), *VALUE)
    ended = events.near(gaps(rows, _READER, "at")).join(closing, on=[*_READER, "closed"], how="inner")
    closed = (
        events.near(ended)
        .join(due, on=list(VALUE), how="inner")
        .groupBy(*_READER, "opened", "closed")
        .agg(F.min("completed").alias("due"))
        .withColumn("censored", F.lit(False))
    )
    return (
        closed.unionByName(_starving(events))
        .withColumn("began", F.greatest("opened", "due"))
        .filter(F.col("closed") - F.col("began") >= SHORTEST)
        .select(*_READER, "began", F.col("closed").alias("ended"), "censored")
    )


def _starving(events: Events) -> DataFrame:
    """Per reader and partition the stretch after its last delivery, if records are in the log that it never got."""
    reached = (
        events.frame(polled)
        .groupBy(*_READER)
        .agg(F.max("high").alias("reached"), F.max("at").alias("opened"))
    )  # fmt: skip
    waiting = events.frame(values).filter(F.col("written") & F.col("audited"))
    last = max((span.ended for span in events.case.phases if span.name == "drain"), default=events.case.run.ended)
    return (
        waiting.join(events.near(reached), on=list(PLACE), how="inner")
        .filter((F.col("offset") > F.col("reached")) & ~given_to(events.case, F.col("reader")))
        .groupBy(*_READER, "opened")
        .agg(F.min("completed").alias("due"))
        .withColumns({"closed": F.lit(last), "censored": F.lit(True)})
        .select(*_READER, "opened", "closed", "due", "censored")
    )
