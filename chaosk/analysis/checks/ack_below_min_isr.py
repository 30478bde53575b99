"""Acknowledgements while fewer replicas than min.insync.replicas were in sync."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.sends import sends, with_settings
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.observed_settings import min_isr


class AckBelowMinIsr(Check):
    """Records were sent and acknowledged with ``acks=all`` while fewer replicas than min.insync.replicas were in sync.

    A16: the leader must refuse such writes. The rows are a suspicion and never a violation. The in-sync replicas are
    sampled from the brokers' metadata, which lags behind the leader's decision. So a record counts only if it was sent
    and acknowledged between two samples of a stretch in which every answering broker named too few replicas. A topic
    without a known ``min.insync.replicas`` is not judged.

    Columns: topic, partition, min_isr (as set), isr (the most replicas that any sample named), samples (of that
    stretch), acknowledged (number of records), first and last (their lowest and highest offset).
    """

    rule = "A16"
    title = "acknowledgements while too few replicas were in sync"
    counted = ("stretch of acknowledgements below min.insync.replicas", "such stretches")
    tables = ("partitions", "sends", "incarnations")
    by_absence_of = ("partitions",)
    order = ("began", *PLACE)

    def glance(self, rows: EventRows) -> bool:
        """Return True if any sample named too few in-sync replicas."""
        topics, isr = rows.column("partitions", "topic"), rows.lengths("partitions", "isr")
        bounds = ((rows.code("topic", topic), min_isr(rows.case, topic)) for topic in sorted(rows.case.topics))
        return any(bool(((topics == code) & (isr != EMPTY) & (isr < bound)).any()) for code, bound in bounds)

    def violations(self, events: Events) -> DataFrame:
        """Return stretches with acknowledgements, as information."""
        short = F.size("isr") < _bound(events.case)
        in_order = Window.partitionBy(*PLACE).orderBy("at", "asked")
        stretches = (
            events.table("partitions")
            .select(*PLACE, "at", "asked", F.size("isr").alias("isr"), short.alias("short"))
            .withColumn("stretch", F.count_if(~F.col("short")).over(in_order))
            .filter("short")
            .groupBy(*PLACE, "stretch")
            .agg(
                F.min("at").alias("began"), F.max("at").alias("ended"), F.max("isr").alias("isr"),
                F.count("*").alias("samples"),
            )
        )  # fmt: skip
        acked = with_settings(events, sends(events).filter(F.col("outcome") == "ok")).filter(F.col("acks") == -1)
        inside = (F.col("invoked") >= F.col("began")) & (F.col("completed") <= F.col("ended"))
        return (
            acked.select(*PLACE, "invoked", "completed", "offset")
            .join(events.near(stretches), on=list(PLACE), how="inner")
            .filter(inside)
            .groupBy(*PLACE, "began", "ended", "isr", "samples")
            .agg(F.count("*").alias("acknowledged"), F.min("offset").alias("first"), F.max("offset").alias("last"))
            .withColumn("min_isr", _bound(events.case))
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumns(during("began", "ended"))
            .select(*MEANING, *PLACE, "min_isr", "isr", "samples", "acknowledged", "first", "last")
        )


def _bound(case: Case) -> Column:
    """Return min.insync.replicas of the row's topic as a column."""
    bound = F.lit(1)
    for topic in sorted(case.topics):
        bound = F.when(F.col("topic") == topic, F.lit(min_isr(case, topic))).otherwise(bound)
    return bound
