"""Activity of each probe in each window, as small histograms: the basis of most measures and guards."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import VALUE
from chaosk.analysis.frames.deliveries import MEMBER, reads
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.frames.suspects import settled, suspected_reads
from chaosk.analysis.must_fail_windows import afterwards
from chaosk.analysis.screens import screened
from chaosk.analysis.windows import Segments
from chaosk.rundir.events.buckets import BITS


def figures(events: Events) -> DataFrame:
    """Return counts by what, probe, incarnation, ``Segments`` and bucket, with the longest and the first of each.

    ``what`` is one of

    - the outcome of sends, by the windows of their due time, with the latency from then on;
    - ``call``, by the windows in which it was in progress;
    - ``read``, by the time of delivery;
    - ``received``, first deliveries to a reader, by the windows of the record's due time, with the latency from then
      on;
    - ``healthy`` and ``unhealthy``, health checks by the windows of their due time;
    - ``answered`` and ``unanswered``, calls of the probe ``call`` by the windows of their end (and ``call``).

    For acknowledged sends, ``acknowledged_in`` is the segment of the acknowledgement.
    """
    sent = sends(events).select(
        F.col("outcome").alias("what"), F.col("producer").alias("probe"),
        F.col("producer_incarnation").alias("incarnation"), F.col("scheduled").alias("when"),
        (F.col("completed") - F.col("scheduled")).alias("latency"), F.col("completed").alias("came"),
    )  # fmt: skip
    called = calls(events).select(F.lit("call").alias("what"), *MEMBER, F.col("invoked").alias("when"), "until")
    read = events.frame(polled).select(F.lit("read").alias("what"), *MEMBER, F.col("at").alias("when"), "records")
    received = first_deliveries(events).select(
        F.lit("received").alias("what"), "probe", F.col("scheduled").alias("when"),
        (F.col("at") - F.col("scheduled")).alias("latency"),
    )  # fmt: skip
    rows = sent
    checks = [checked(events)] if events.case.rows["health_checks"] else []
    asked = [answered(events)] if events.case.rows["calls"] else []
    for more in (called, read, received, *checks, *asked):
        rows = rows.unionByName(more, allowMissingColumns=True)
    windows = Segments((*events.case.windows, *events.case.looks, *afterwards(events.case)))
    acknowledged, _ = windows.of(F.when(F.col("what") == "ok", F.col("came")))
    return (
        events.gathered(rows)
        .groupBy(
            "what", *MEMBER, *windows.of(F.col("when"), F.coalesce("until", "when")),
            acknowledged.alias("acknowledged_in"), bucket(F.col("latency")).alias("bucket"),
        )
        .agg(
            F.sum(F.coalesce("records", F.lit(1).cast("long"))).alias("count"), F.max("latency").alias("longest"),
            F.min(F.coalesce("came", "when")).alias("first"),
        )
    )  # fmt: skip


def calls(events: Events) -> DataFrame:
    """Return one row per request to Kafka: probe, incarnation, invoked, until.

    These are the calls of the probe ``call``, and a consumer's polls, requests for its committed offset, and
    synchronous commits. While no broker answers, a request may take all the time of a fault. A request that was not
    answered before the probe ended was in progress until the end of the run.
    """
    unanswered = F.coalesce("completed", F.lit(events.case.record.ended))
    waited = events.table("commits").filter(F.col("kind").isin("sync", "topic"))
    heard, asked, committed = (
        rows.select(*MEMBER, "invoked", unanswered.alias("until"))
        for rows in (events.table("polls"), events.table("fetched"), waited)
    )
    rows = heard.unionByName(asked).unionByName(committed)
    if not events.case.rows["calls"]:
        return rows
    made = events.table("calls").select(*MEMBER, F.col("began").alias("invoked"), F.col("completed").alias("until"))
    return rows.unionByName(made)


def checked(events: Events) -> DataFrame:
    """Return one row per health check: what (``healthy`` or ``unhealthy``), probe, incarnation, when (it was due)."""
    what = F.when(F.col("outcome") == "ok", "healthy").otherwise("unhealthy")
    return events.table("health_checks").select(what.alias("what"), *MEMBER, F.col("due").alias("when"))


def answered(events: Events) -> DataFrame:
    """Return one row per call of the probe ``call``: what (``answered`` or not), probe, incarnation, when (its end)."""
    what = F.when(F.col("outcome") == "ok", "answered").otherwise("unanswered")
    return events.table("calls").select(what.alias("what"), *MEMBER, F.col("completed").alias("when"))


@planned_once
def first_deliveries(events: Events) -> DataFrame:
    """Return the first delivery per reader and value: ``reader``, ``probe`` (that got it), ``at``, ``scheduled``.

    The due time is in the record's payload; records of other origin have none, and are excluded.
    """
    rows = reads(events).filter(F.col("scheduled").isNotNull())
    columns = ("reader", "probe", "at", "scheduled")
    if events.glances and not events.once(screened)["repeated"]:
        return rows.select(*columns)
    first = F.min(F.struct("at", "probe")).alias("first")
    again = suspected_reads(events).filter(F.col("scheduled").isNotNull())
    again = again.groupBy("reader", *VALUE, "scheduled").agg(first)
    again = again.select("reader", "first.probe", "first.at", "scheduled")
    return settled(events, rows).select(*columns).unionByName(again)


def bucket(value: Column) -> Column:
    """Return a long as the lower bound of its bucket: its first ``BITS`` bits, the rest zero; negative ones as 0."""
    whole = F.greatest(value, F.lit(0).cast("long"))
    cut = F.greatest(F.floor(F.log2(F.greatest(whole, F.lit(1).cast("long")))).cast("int") - (BITS - 1), F.lit(0))
    return F.when(value.isNotNull(), F.call_function("shiftleft", F.call_function("shiftright", whole, cut), cut))
