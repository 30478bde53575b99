"""Leaders whose log ends before records that it must hold."""

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
from chaosk.analysis.glances.rows import EMPTY, EventRows


class TruncationAfterAck(Check):
    """A leader's log ended at or before a record that had been acknowledged with ``acks=all`` or given to a consumer.

    A15: the log was truncated, or a broker without that record was elected. The check needs no audit, and shows the
    time even if other records have taken the same offsets since. Only leaders are asked: a follower's log may end
    anywhere. A deposed leader that does not know it is not responsible for records shown after its term: a record does
    not count against it if it was shown less than five seconds before a later leader was first named, or after that.
    The log end in the tail audit is one more answer, without a broker. Allowed if the log was seen to be truncated at
    or before that offset, after it was shown.

    Columns: topic, partition, leader, leader_epoch, offset (the highest that had been shown), log_end (the lowest end
    of the leader's log after that), samples (number of answers that showed it; 0: only the audit).
    """

    rule = "A15"
    title = "logs that were cut back behind what was acknowledged"
    counted = ("log cut back behind what was acknowledged", "logs cut back behind what was acknowledged")
    tables = ("offsets", "partitions", "sends", "reads", "incarnations")
    order = TERM

    def glance(self, rows: EventRows) -> bool:
        """Return True if any leader's log ended at or before an offset that had been shown."""
        log_end, _, shown = ended(rows)
        return bool(((log_end != EMPTY) & (log_end <= shown)).any()) or _cut_in_the_end(rows)

    def violations(self, events: Events) -> DataFrame:
        """Return leaders, by epoch, whose logs were too short."""
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
    """Return audited log ends with the highest offset proven to be below them: as ``ends``, without a leader."""
    nobody = F.lit(None).cast("int")
    logs = events.frame(retained).filter("complete")
    told = logs.select(*PLACE, F.col("stored_end").alias("log_end"), F.lit(_end(events.case)).alias("at"))
    known = by_then(events, told.withColumn("until", F.col("at")), "until")
    return known.withColumns({"leader": nobody, "leader_epoch": nobody}).select(
        *TERM, "at", "log_end", "firm", "firm_at"
    )


def _end(case: Case) -> int:
    return max((span.ended for span in case.phases), default=case.record.ended)


def _cut_in_the_end(rows: EventRows) -> bool:
    """Return True if an audited log (of an incomplete audit, too) ends at or before an offset that had been shown."""
    level = rows.column("audit_ranges", "isolation") == rows.code("isolation", "read_uncommitted")
    places, end = rows.places("audit_ranges")[level], rows.column("audit_ranges", "end")[level]
    return bool((shown_in_the_end(rows, places) >= end).any())
