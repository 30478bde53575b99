"""Acknowledged, and in nobody's hands."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, Found, among, meaning
from chaosk.analysis.counts import counted
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.values import values
from chaosk.verdict import Measure


class Lost(Check):
    """A record that was acknowledged is not in the log any more, although nothing may have deleted it.

    A4 after the definitions that Jepsen's Kafka workload made known (``lost-write``), by a tail audit: the record
    counts as written, the audit read its partition from log start to end and did not find it. ``kind`` is ``lost``
    where no reader ever got it, ``truncated_after_read`` where one did: then the log forgot what it had shown, which
    also holds for records that were never acknowledged. Retention is no loss: offsets below the highest log start
    seen are not judged.

    Allowed: ``lost`` with ``acks`` other than all, and everything where an unclean election was allowed. A record
    that a reader was given lay below the high watermark, which ``acks=1`` does not put at risk.

    Columns: kind, acknowledged, the value (producer, producer_incarnation, seq), topic, partition, offset (as
    acknowledged or read), acks, scheduled.
    """

    rule = "A4"
    title = "acknowledged records that are gone"
    counted = ("record lost", "records lost")
    tables = ("sends", "reads", "audit", "audit_ranges", "offsets", "incarnations", "transactions")
    order = (*PLACE, "offset", *VALUE)
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def violations(self, events: Events) -> DataFrame:
        """Rows of values that are missing from a log that was audited completely."""
        place = F.coalesce("read_place", "acked")
        offset, start = place["offset"], F.col("log_start")
        missing = (F.col("written") | F.col("read")) & F.col("complete") & ~F.col("audited")
        kept = F.coalesce(offset >= start, F.lit(True))  # without an offset it cannot lie below the start
        below_end = ~F.col("read") | (offset < F.col("end"))  # a read beyond the audit's end is no proof
        severity, reason = meaning(
            (among(F.col("topic"), _compacted(events)), "unproven", "compaction removes records of a key"),
            (offset.isNull() & F.col("trimmed"), "unproven", "its offset is unknown, and retention deleted records"),
            (among(F.col("topic"), _unclean(events)), "allowed", "an unclean election was allowed for the topic"),
            (~F.col("read") & (F.col("acks") != -1), "allowed", "acks is not all: the leader alone acknowledged it"),
            otherwise=("violation", None),
        )
        return (
            events.frame(values)
            .filter(missing & kept & below_end)
            .select(
                severity, reason, F.col("invoked").alias("began"),
                F.coalesce("completed", "read_at").alias("ended"),
                F.when(F.col("read"), "truncated_after_read").otherwise("lost").alias("kind"),
                F.col("written").alias("acknowledged"), *VALUE, *PLACE, offset.alias("offset"), "acks", "scheduled",
            )
            .select(*MEANING, "kind", "acknowledged", *VALUE, *PLACE, "offset", "acks", "scheduled")
        )  # fmt: skip

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``lost_records`` of each topic: the acknowledged ones, allowed or not."""
        gone = None if found.rows is None else found.rows.filter("acknowledged AND severity != 'unproven'")
        return counted(events, gone, "lost_records", "topic", tuple(events.case.topics))


def _compacted(events: Events) -> list[str]:
    return [topic for topic in events.case.topics if events.case.compacted(topic)]


def _unclean(events: Events) -> list[str]:
    return [topic for topic in events.case.topics if events.case.unclean(topic)]
