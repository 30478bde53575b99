"""Acknowledged while too few replicas were in sync."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.sends import sends, with_settings
from chaosk.analysis.glances.rows import EMPTY, Rows
from chaosk.analysis.settingsseen import min_isr


class AckBelowMinIsr(Check):
    """Records were sent and acknowledged with ``acks=all`` while fewer replicas than min.insync.replicas were in sync.

    A16: such writes are to be refused. A suspicion, never held against the cluster: which replicas are in sync is
    sampled from what brokers tell, and they hear of it later than the leader decides. So only records count that were
    sent and acknowledged between two samples of a stretch in which every broker that was asked named too few. Topics
    whose settings say nothing of ``min.insync.replicas`` are not judged.

    Columns: topic, partition, min_isr (as set), isr (the most replicas that any sample named), samples (of that
    stretch), acknowledged (how many records), first and last (their lowest and highest offset).
    """

    rule = "A16"
    title = "acknowledgements while too few replicas were in sync"
    counted = ("stretch of acknowledgements below min.insync.replicas", "such stretches")
    tables = ("partitions", "sends", "incarnations")
    by_absence_of = ("partitions",)
    order = ("began", *PLACE)

    def glance(self, rows: Rows) -> bool:
        """Whether any sample named too few replicas."""
        topics, isr = rows.column("partitions", "topic"), rows.lengths("partitions", "isr")
        bounds = ((rows.code("topic", topic), min_isr(rows.case, topic)) for topic in sorted(rows.case.topics))
        return any(bool(((topics == code) & (isr != EMPTY) & (isr < bound)).any()) for code, bound in bounds)

    def violations(self, events: Events) -> DataFrame:
        """Rows of stretches with acknowledgements; they are information."""
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
    """What min.insync.replicas of the row's topic is."""
    bound = F.lit(1)
    for topic in sorted(case.topics):
        bound = F.when(F.col("topic") == topic, F.lit(min_isr(case, topic))).otherwise(bound)
    return bound
