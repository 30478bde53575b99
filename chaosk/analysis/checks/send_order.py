"""The order of the log against the order of sending."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.counts import counted
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.packed import offset_of
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.values import values
from chaosk.analysis.glances.rows import Rows
from chaosk.analysis.glances.screens import turned
from chaosk.verdict import Measure


class SendOrder(Check):
    """A record stands in the log at or before one that the same process sent earlier to the same partition.

    A8 after the definitions that Jepsen's Kafka workload made known (``nonmonotonic-send``). Neighbours are records of
    known place, by sequence number. The log's word counts first; the offset of an acknowledgement only where no audit
    can contradict it, because a record that was lost has no place in any order.

    Allowed without ``enable.idempotence`` and with several requests in flight: then a retry may overtake. Where the
    earlier record was not acknowledged, a late arrival breaks no promise and is information.

    Columns: the value, topic, partition, offset, earlier_seq, earlier_offset (of its neighbour), outcome,
    earlier_outcome, idempotent, max_in_flight.
    """

    rule = "A8"
    title = "records that stand in the log in another order than they were sent"
    counted = ("record out of order", "records out of order")
    tables = ("sends", "reads", "audit", "audit_ranges", "incarnations")
    order = (*PLACE, *VALUE)
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def glance(self, rows: Rows) -> bool:
        """Whether any record was seen out of order at all."""
        return turned(rows)

    def violations(self, events: Events) -> DataFrame:
        """Rows of values whose place is not after that of the value sent before."""
        place = F.coalesce("first", F.when(_beyond_audit(events.case), F.col("acked")))
        sent = Window.partitionBy("producer", "producer_incarnation", *PLACE).orderBy("seq")
        turned = (
            events.frame(values)
            .withColumn("offset", offset_of(place))
            .filter(F.col("offset").isNotNull())
            .withColumn("earlier_seq", F.lag("seq").over(sent))
            .withColumn("earlier_offset", F.lag("offset").over(sent))
            .withColumn("earlier_outcome", F.lag(F.coalesce("outcome", F.lit("unknown"))).over(sent))
            .filter(F.col("offset") <= F.col("earlier_offset"))
        )
        overtaking = "enable.idempotence is off and several requests were in flight: a retry may overtake"
        return (
            with_settings(events, turned)
            .withColumns(
                meaning(
                    (F.col("idempotent").isNull(), "unproven", "the settings of its producer are unknown"),
                    (~F.col("idempotent") & (F.col("max_in_flight") != 1), "allowed", overtaking),
                    (F.col("earlier_outcome") != "ok", "information", "the earlier record was not acknowledged"),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(
                *MEANING, *VALUE, *PLACE, "offset", "earlier_seq", "earlier_offset", "outcome", "earlier_outcome",
                "idempotent", "max_in_flight",
            )
        )  # fmt: skip

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``reordered_records`` of each topic, allowed or not."""
        wrong = found.where(("violation", "allowed"))
        return counted(events.case, wrong, "reordered_records", "topic", tuple(events.case.topics))


def _beyond_audit(case: Case) -> Column:
    """Whether no audit can contradict an acknowledgement: it was incomplete there, or the record was deleted since."""
    log = F.concat_ws("/", *PLACE)
    audited = F.array(*(F.lit(f"{topic}/{partition}") for topic, partition in sorted(case.complete)))
    beyond = ~F.array_contains(audited.cast("array<string>"), log)
    starts = {f"{row['topic']}/{row['partition']}": row["log_start"] for row in case.ranges if row["log_start"] > 0}
    if not starts:
        return beyond
    start = F.create_map(*(F.lit(each) for pair in sorted(starts.items()) for each in pair))[log]
    return beyond | F.coalesce(offset_of(F.col("acked")) < start, F.lit(False))
