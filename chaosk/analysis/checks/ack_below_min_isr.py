"""Acknowledgements while fewer replicas than min.insync.replicas were in sync."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.sends import sends, with_settings
from chaosk.analysis.frames.truncations import SURE
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.observed_settings import min_isr

_FOR_LONG = "the leader itself named fewer replicas in sync than min.insync.replicas for longer than metadata lags"


class AckBelowMinIsr(Check):
    """Records were sent and acknowledged with ``acks=all`` while fewer replicas than min.insync.replicas were in sync.

    A16: the leader must refuse such writes. The rows are a suspicion and never a violation. The in-sync replicas are
    sampled from the brokers' metadata, which lags behind the leader's decision. So a record counts only if it was sent
    and acknowledged between two samples of a stretch in which every answering broker named too few replicas.
    Information; unproven if the leader itself named too few from five seconds before one of the records was sent until
    five seconds after its acknowledgement, since no metadata lags for so long. A topic without a known
    ``min.insync.replicas`` is not judged.

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
        """Return stretches with acknowledgements."""
        short = F.size("isr") < _bound(events.case)
        in_order = Window.partitionBy(*PLACE).orderBy("at", "asked")
        by_leader = F.when(F.col("asked") == F.col("leader"), F.col("at"))
        stretches = (
            events.table("partitions")
            .select(*PLACE, "at", "asked", by_leader.alias("own"), F.size("isr").alias("isr"), short.alias("short"))
            .withColumn("stretch", F.count_if(~F.col("short")).over(in_order))
            .filter("short")
            .groupBy(*PLACE, "stretch")
            .agg(
                F.min("at").alias("began"), F.max("at").alias("ended"), F.max("isr").alias("isr"),
                F.count("*").alias("samples"), F.min("own").alias("own_from"), F.max("own").alias("own_until"),
            )
        )  # fmt: skip
        acked = with_settings(events, sends(events).filter(F.col("outcome") == "ok")).filter(F.col("acks") == -1)
        inside = (F.col("invoked") >= F.col("began")) & (F.col("completed") <= F.col("ended"))
        amid = (F.col("invoked") >= F.col("own_from") + SURE) & (F.col("completed") <= F.col("own_until") - SURE)
        return (
            acked.select(*PLACE, "invoked", "completed", "offset")
            .join(events.near(stretches), on=list(PLACE), how="inner")
            .filter(inside)
            .groupBy(*PLACE, "began", "ended", "isr", "samples")
            .agg(
                F.count("*").alias("acknowledged"), F.min("offset").alias("first"), F.max("offset").alias("last"),
                F.max(amid).alias("amid"),
            )
            .withColumn("min_isr", _bound(events.case))
            .withColumns(meaning((F.col("amid"), "unproven", _FOR_LONG), otherwise=INFORMATION))
            .withColumns(during("began", "ended"))
            .select(*MEANING, *PLACE, "min_isr", "isr", "samples", "acknowledged", "first", "last")
        )  # fmt: skip


def _bound(case: Case) -> Column:
    """Return min.insync.replicas of the row's topic as a column."""
    bound = F.lit(1)
    for topic in sorted(case.topics):
        bound = F.when(F.col("topic") == topic, F.lit(min_isr(case, topic))).otherwise(bound)
    return bound
