"""Outages: gaps without progress of producers and consumers although there was work to do."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.answered import WRITER, answered
from chaosk.analysis.frames.deliveries import reads
from chaosk.analysis.frames.gaps import SHORTEST, gaps, gaps_of
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.frames.values import given_to, values

_READER = ("reader", *PLACE)
_TIMES_BASELINE = 10
_SHARE = 0.99
_SETTLING = 1_000_000_000
"""Nanoseconds after its assignment in which a reader may not have its position yet."""


def produce_outages(events: Events) -> DataFrame:
    """Return stretches in which a producer's process had sends waiting for a partition and none was acknowledged.

    Columns: producer, producer_incarnation, topic, partition, began, ended, censored (still in progress at the
    process's last outcome), failed and uncertain (sends with that outcome during it), errors.
    """
    known = events.frame(answered).filter(F.col("partition").isNotNull())
    # The first send's due time counts as an acknowledgement, so that a slow start is a gap as well.
    starts = known.groupBy(*WRITER).agg(F.min("due").alias("first"), F.min("due").alias("last"))
    marks = known.filter(F.col("outcome") == "ok").select(*WRITER, "first", "last").unionByName(starts)
    closed = gaps_of(marks, WRITER).withColumn("censored", F.lit(False))
    candidates = closed.unionByName(_unclosed(events, marks)).join(
        events.near(_ordinary(events)), on="producer", how="left"
    )
    waiting = _waiting(events, candidates)
    threshold = F.greatest(F.lit(SHORTEST), F.coalesce("ordinary", F.lit(0)) * _TIMES_BASELINE)
    return waiting.filter(F.col("ended") - F.col("began") >= threshold).select(
        *WRITER, "began", "ended", "censored", "failed", "uncertain", "errors"
    )


def _unclosed(events: Events, marks: DataFrame) -> DataFrame:
    """Return the stretch after the last acknowledgement per process and partition, if later sends failed."""
    last = marks.groupBy(*WRITER).agg(F.max("last").alias("opened"))
    bad = events.frame(answered).filter(F.col("outcome") != "ok")
    # A send that failed before the client chose a partition waited for any partition of its topic.
    same = [F.col(f"mark.{name}") == F.col(f"bad.{name}") for name in WRITER[:3]]
    here = F.col("bad.partition").isNull() | (F.col("bad.partition") == F.col("mark.partition"))
    return (
        events.near(last)
        .alias("mark")
        .join(bad.alias("bad"), on=[*same, here, F.col("bad.last") > F.col("mark.opened")], how="inner")
        .groupBy(*(F.col(f"mark.{name}") for name in (*WRITER, "opened")))
        .agg(F.max("bad.last").alias("closed"))
        .filter(F.col("closed") - F.col("opened") >= SHORTEST)
        .select(*WRITER, "opened", "closed", F.lit(True).alias("censored"))
    )


def _ordinary(events: Events) -> DataFrame:
    """Return by producer the 99th percentile of the wait per acknowledgement of a partition in the baseline.

    The wait begins at the previous acknowledgement, or at the record's due time if that is later, as for an outage. So
    a producer that sends seldom, and has long gaps with nothing to send, does not count as slow.
    """
    baseline = events.case.baseline
    low, high = (baseline.began, baseline.ended) if baseline else (0, 0)
    before = F.lag("completed").over(Window.partitionBy(*WRITER).orderBy("completed", "scheduled"))
    by_length = Window.partitionBy("producer").orderBy("waited")
    return (
        sends(events)
        .filter((F.col("outcome") == "ok") & F.col("partition").isNotNull() & F.col("completed").between(low, high))
        .withColumn("waited", F.col("completed") - F.greatest("scheduled", before))
        .withColumn("share", F.cume_dist().over(by_length))
        .filter(F.col("share") >= _SHARE)
        .groupBy("producer")
        .agg(F.min("waited").alias("ordinary"))
    )


def _waiting(events: Events, candidates: DataFrame) -> DataFrame:
    """Shorten gaps to begin when the first waiting send was due, and add the outcomes of the sends in this time.

    Sends acknowledged to a partition completed before or after its gap, so cells are accurate enough for them.
    """
    gap, bounds = events.near(candidates), ("opened", "closed", "censored", "ordinary")
    later = events.frame(answered).filter((F.col("outcome") == "ok") & F.col("partition").isNotNull())
    acknowledged = gap.join(
        later.select(*WRITER, F.col("first").alias("over"), F.col("due").alias("scheduled")),
        on=list(WRITER),
        how="inner",
    )
    others = sends(events).filter((F.col("outcome") != "ok") | F.col("partition").isNull())
    over = F.coalesce("completed", F.lit(2**62))
    others = others.select(
        *WRITER[:3], F.col("partition").alias("chosen"), over.alias("over"), "scheduled", "outcome", "error"
    )
    here = F.col("chosen").isNull() | (F.col("chosen") == F.col("partition"))
    came_to_nothing = gap.join(others, on=list(WRITER[:3]), how="inner").filter(here).drop("chosen")
    meanwhile = (F.col("over") > F.col("opened")) & (F.col("scheduled") < F.col("closed"))
    return (
        acknowledged.unionByName(came_to_nothing, allowMissingColumns=True)
        .filter(meanwhile)
        .groupBy(*WRITER, *bounds)
        .agg(
            F.min("scheduled").alias("due"),
            F.count_if(F.col("outcome") == "fail").alias("failed"),
            F.count_if(F.col("outcome") == "info").alias("uncertain"),
            F.concat_ws(", ", F.array_sort(F.collect_set("error"))).alias("errors"),
        )
        .withColumn("began", F.greatest("opened", "due"))
        .withColumn("ended", F.col("closed"))
    )


def consume_outages(events: Events) -> DataFrame:
    """Return stretches in which a group (or a consumer without one) got nothing of a partition although records waited.

    Columns: reader, topic, partition, began, ended, censored. It begins at the last delivery, or when the first waiting
    record was acknowledged if that is later; before the first delivery, with the assignment. Records that waited are:
    the one that ended the stretch, if it was delivered for the first time; and any record that was acknowledged in this
    time beyond all that the reader had been given, whether it got it later or it was lost.
    """
    whole = events.whole
    closed = _waited(whole, whole.frame(_stretches)).withColumn("censored", F.lit(False))
    return (
        closed.unionByName(_starving(events))
        .withColumn("began", F.greatest("opened", "due"))
        .filter(F.col("closed") - F.col("began") >= SHORTEST)
        .select(*_READER, "began", F.col("closed").alias("ended"), "censored")
    )


def _given(events: Events) -> DataFrame:
    """Return the time at which each reader was first assigned each partition: ``_READER``, opened."""
    return (
        events.table("assignments")
        .filter(F.col("kind") == "assign")
        .withColumn("reader", F.coalesce("group", "probe"))
        .groupBy(*_READER)
        .agg(F.min("at").alias("opened"))
    )


def _stretches(events: Events) -> DataFrame:
    """Return stretches of a second or more without a delivery that a delivery ended: ``_READER``, opened, closed."""
    return gaps(events.frame(polled), _READER, "at").unionByName(_starts(events))


def _starts(events: Events) -> DataFrame:
    """Return the time from each reader's first assignment of a partition to its first delivery: opened, closed."""
    first = events.frame(polled).groupBy(*_READER).agg(F.min("at").alias("closed"))
    return (
        first.join(events.near(_given(events)), on=list(_READER), how="inner")
        .filter(F.col("closed") - F.col("opened") >= SHORTEST)
        .select(*_READER, "opened", "closed")
    )


def _waited(events: Events, stretches: DataFrame) -> DataFrame:
    """Return stretches (``_READER``, opened, closed) in which a record waited, and ``due``: since when.

    A record sent before the reader had the partition, and its position there, may not be owed. It counts only if the
    reader got it.
    """
    spans, written = events.near(stretches), sends(events).filter("written")
    keys = [*_READER, "opened", "closed"]
    rows = reads(events).select(*_READER, "at", *VALUE)
    ending = rows.withColumnRenamed("at", "closed").join(spans, on=[*_READER, "closed"], how="inner")
    first = (
        rows.join(events.near(ending.select("reader", *VALUE).distinct()), on=["reader", *VALUE], how="inner")
        .groupBy("reader", *VALUE)
        .agg(F.min("at").alias("closed"))
    )
    got = (
        events.near(ending.join(events.near(first), on=["reader", "closed", *VALUE], how="inner"))
        .join(written.select(*VALUE, "completed"), on=list(VALUE), how="inner")
        .select(*keys, "completed")
    )
    return got.unionByName(_ahead(events, stretches)).groupBy(*keys).agg(F.min("completed").alias("due"))


def _ahead(events: Events, stretches: DataFrame) -> DataFrame:
    """Return stretches with the acknowledgements (``completed``) in them beyond all that the reader had been given.

    Stretches of one reader and partition do not overlap, so each acknowledgement is in the last one that began before
    it.
    """
    by_time = Window.partitionBy(*_READER).orderBy("time").rangeBetween(Window.unboundedPreceding, 0)
    delivered = events.frame(polled).select(*_READER, F.col("at").alias("time"), "high")
    spans = stretches.select(*_READER, F.col("opened").alias("time"), F.struct("opened", "closed").alias("span"))
    begun = (
        delivered.unionByName(spans, allowMissingColumns=True)
        .withColumn("reached", F.max("high").over(by_time))
        .filter(F.col("span").isNotNull())
        .select(*_READER, "time", F.struct("span.opened", "span.closed", "reached").alias("span"))
    )
    readers = events.near(stretches.select(*_READER).distinct())
    written = sends(events).filter(F.col("written") & F.col("offset").isNotNull())
    acknowledged = written.select(*PLACE, "offset", "invoked", "completed").join(readers, on=list(PLACE), how="inner")
    here = (
        begun.unionByName(acknowledged.withColumn("time", F.col("completed")), allowMissingColumns=True)
        .withColumn("last", F.last("span", ignorenulls=True).over(by_time))
        .filter(F.col("completed").isNotNull() & (F.col("completed") <= F.col("last.closed")))
        .select(*_READER, "last.*", "offset", "invoked", "completed")
    )
    new = F.when(F.col("reached").isNull(), F.col("invoked") > F.col("opened") + _SETTLING).otherwise(
        F.col("offset") > F.col("reached")
    )
    return here.filter(new).select(*_READER, "opened", "closed", "completed")


def _starving(events: Events) -> DataFrame:
    """Return the stretch after the last delivery, per reader and partition, if the log holds later records.

    Without any delivery it begins with the assignment, and only records sent after that wait.
    """
    reached = (
        events.frame(polled)
        .groupBy(*_READER)
        .agg(F.max("high").alias("reached"), F.max("at").alias("last"))
    )  # fmt: skip
    held = (
        _given(events)
        .join(events.near(reached), on=list(_READER), how="full")
        .withColumn("opened", F.coalesce("last", "opened"))
        .select(*_READER, "opened", "reached")
    )
    waiting = events.frame(values).filter(F.col("written") & F.col("audited"))
    ahead = F.when(F.col("reached").isNull(), F.col("invoked") > F.col("opened") + _SETTLING).otherwise(
        F.col("offset") > F.col("reached")
    )
    last = max((span.ended for span in events.case.phases if span.name == "drain"), default=events.case.run.ended)
    return (
        waiting.join(events.near(held), on=list(PLACE), how="inner")
        .filter(ahead & ~given_to(events.case, F.col("reader")))
        .groupBy(*_READER, "opened")
        .agg(F.min("completed").alias("due"))
        .withColumns({"closed": F.lit(last), "censored": F.lit(True)})
        .select(*_READER, "opened", "closed", "due", "censored")
    )
