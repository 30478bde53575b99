"""A leader whose log ends before what had been promised to be in it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.ends import TERM, ended, ends, shown_in_the_end
from chaosk.analysis.frames.proven import by_then
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.glances.rows import EMPTY, Rows


class TruncationAfterAck(Check):
    """A leader's log ended at or before a record that had been acknowledged with ``acks=all`` or given to a consumer.

    A15: the log was cut back, or a broker without that record was made the leader. It needs no audit and shows when
    it happened, also where other records took the same offsets since. Only leaders are asked: a follower's log may
    end anywhere. A leader that was deposed and does not know it is not held to what was shown after its time: what
    was shown less than five seconds before anyone named a later leader does not count against it. Where the tail audit
    found the log to end is one answer more, of no broker by name.

    Allowed where the log was seen to be cut back at or before that offset, after it was shown.

    Columns: topic, partition, leader, leader_epoch, offset (the highest that had been shown), log_end (the lowest end
    of the leader's log after that), samples (how many answers showed it; none: the audit).
    """

    rule = "A15"
    title = "logs that were cut back behind what was acknowledged"
    counted = ("log cut back behind what was acknowledged", "logs cut back behind what was acknowledged")
    tables = ("offsets", "partitions", "sends", "reads", "incarnations")
    order = TERM

    def glance(self, rows: Rows) -> bool:
        """Whether any leader's log ended at or before what had been shown."""
        log_end, _, shown = ended(rows)
        return bool(((log_end != EMPTY) & (log_end <= shown)).any()) or _cut_in_the_end(rows)

    def violations(self, events: Events) -> DataFrame:
        """Rows of leaders, by epoch, whose logs were too short."""
        in_the_end = _audited(events).withColumn("sample", F.lit(None).cast("int"))
        return (
            events.frame(ends)
            .select(*TERM, "at", "log_end", "firm", "firm_at")
            .withColumn("sample", F.lit(1))
            .unionByName(in_the_end)
            .filter(F.col("log_end") <= F.col("firm"))
            .groupBy(*TERM)
            .agg(
                F.max("firm").alias("offset"), F.min("log_end").alias("log_end"), F.count("sample").alias("samples"),
                F.min("firm_at").alias("shown"), F.max("at").alias("told"),
            )
            .withColumns(
                meaning(
                    *excused(events, F.col("offset"), F.col("shown"), later=F.col("told")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("shown", "told"))
            .select(*MEANING, *PLACE, "leader", "leader_epoch", "offset", "log_end", "samples")
        )  # fmt: skip


def _audited(events: Events) -> DataFrame:
    """Where the audit found logs to end, beside what had been proven to be in them: as ``ends``, without a leader."""
    nobody = F.lit(None).cast("int")
    logs = events.frame(retained).filter("complete")
    told = logs.select(*PLACE, F.col("stored_end").alias("log_end"), F.lit(_end(events.case)).alias("at"))
    known = by_then(events, told.withColumn("until", F.col("at")), "until")
    return known.withColumns({"leader": nobody, "leader_epoch": nobody}).select(
        *TERM, "at", "log_end", "firm", "firm_at"
    )


def _end(case: Case) -> int:
    return max((span.ended for span in case.phases), default=case.record.ended)


def _cut_in_the_end(rows: Rows) -> bool:
    """Whether an audited log ends at or before what had been shown; that of a broken off audit may count as well."""
    level = rows.column("audit_ranges", "isolation") == rows.code("isolation", "read_uncommitted")
    places, end = rows.places("audit_ranges")[level], rows.column("audit_ranges", "end")[level]
    return bool((shown_in_the_end(rows, places) >= end).any())
