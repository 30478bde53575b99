"""Acknowledged, and in nobody's hands."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.acknowledged import acknowledged
from chaosk.analysis.checks._contract import MEANING, Check, among, during, forgiven, meaning
from chaosk.analysis.counts import counted, measured, shares
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.agreement import with_agreement
from chaosk.analysis.frames.packed import offset_of
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.values import values
from chaosk.verdict import Measure


class Lost(Check):
    """A record that was acknowledged is not in the log any more, although nothing may have deleted it.

    A4 after the definitions that Jepsen's Kafka workload made known (``lost-write``), by a tail audit: the record
    counts as written, the audit read its partition from log start to end and did not find it. ``kind`` is ``lost``
    where no reader ever got it, ``truncated_after_read`` where one did: then the log forgot what it had shown, which
    also holds for records that were never acknowledged. Retention is no loss: offsets below the highest log start
    seen are not judged.

    Allowed: ``lost`` with ``acks`` other than all, and everything where an unclean election was allowed, or where the
    power of all hosts was cut that had it, while every other replica was kept away. A record that a reader was given
    lay below the high watermark, which ``acks=1`` does not put at risk.

    What the brokers' own files hold at its offset is ``replicas``: ``agree`` where every replica holds the same batch,
    or none of them any, so that what the audit saw is all there is; ``differ`` where one has what the others have not:
    the record may still be there, undelivered, on a replica that diverged. Empty where not every host could be asked.

    Columns: kind, acknowledged, the value (producer, producer_incarnation, seq), topic, partition, offset (as
    acknowledged or read), replicas, acks, scheduled.
    """

    rule = "A4"
    also = ("D8",)
    title = "acknowledged records that are gone"
    counted = ("record lost", "records lost")
    tables = ("sends", "reads", "audit", "audit_ranges", "offsets", "incarnations", "transactions", "copies")
    order = (*PLACE, "offset", *VALUE)
    screens = ("missing",)
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def violations(self, events: Events) -> DataFrame:
        """Rows of values that are missing from a log that was audited completely."""
        case = events.case
        missing = events.frame(values).filter((F.col("written") | F.col("read")) & ~F.col("audited"))
        placed = (
            with_settings(events, missing)
            .join(events.near(events.frame(retained)), on=list(PLACE), how="inner")
            .filter("complete")
            .withColumn("offset", offset_of(F.coalesce("read_place", "acked")))
        )
        kept = F.coalesce(F.col("offset") >= F.col("log_start"), F.lit(True))  # without an offset: who knows
        below_end = ~F.col("read") | (F.col("offset") < F.col("end"))  # a read beyond the audit's end is no proof
        compacted = [topic for topic in case.topics if case.compacted(topic)]
        nowhere = F.col("offset").isNull() & F.col("trimmed")
        return (
            with_agreement(events, placed.filter(kept & below_end))
            .withColumns(
                meaning(
                    (among(F.col("topic"), compacted), "unproven", "compaction removes records of a key"),
                    (nowhere, "unproven", "its offset is unknown, and retention deleted records"),
                    *forgiven(events.case),
                    (~F.col("read") & (F.col("acks") != -1), "allowed", "acks is not all: the leader alone had it"),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", F.coalesce("completed", "read_at")))
            .withColumn("kind", F.when(F.col("read"), "truncated_after_read").otherwise("lost"))
            .withColumn("acknowledged", F.col("written"))
            .select(*MEANING, "kind", "acknowledged", *VALUE, *PLACE, "offset", "replicas", "acks", "scheduled")
        )

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``lost_records``, ``lost_share`` and ``lost_span`` of each topic: the acknowledged ones, allowed or not (D8).

        ``lost_share`` is what part they are of all that were acknowledged, by the window that records were sent in.
        ``lost_span`` is the time from the first of them to be sent to the last; 0 s where none or one is lost.
        """
        case = events.case
        gone = found.where(("violation", "allowed"), "acknowledged")
        counts = tuple(counted(case, gone, "lost_records", "topic", tuple(case.topics)))
        yield from counts
        yield from shares("lost_share", counts, events.once(acknowledged))
        whole, *rest = case.windows
        spans = gone.spans("topic", tuple(rest), "began", whole.name)
        for topic in sorted({*case.topics, *(key[0] for key in spans)}):
            for window in case.windows:
                yield measured("lost_span", topic, window.name, spans.get((topic, window.name), 0) / 1e9)
