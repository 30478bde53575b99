"""The order of the log against the order of sending."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, Found, meaning
from chaosk.analysis.counts import counted
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.values import values
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

    def violations(self, events: Events) -> DataFrame:
        """Rows of values whose place is not after that of the value sent before."""
        unproven_place = ~F.col("complete") | (F.col("acked")["offset"] < F.col("log_start"))
        place = F.coalesce("first", F.when(unproven_place, F.col("acked")))
        sent = Window.partitionBy("producer", "producer_incarnation", *PLACE).orderBy("seq")
        severity, reason = meaning(
            (F.col("idempotent").isNull(), "unproven", "the settings of its producer are unknown"),
            (
                ~F.col("idempotent") & (F.col("max_in_flight") != 1),
                "allowed",
                "enable.idempotence is off and several requests were in flight: a retry may overtake",
            ),
            (F.col("earlier_outcome") != "ok", "information", "the earlier record was not acknowledged"),
            otherwise=("violation", None),
        )
        return (
            events.frame(values)
            .withColumn("offset", place["offset"])
            .filter(F.col("offset").isNotNull())
            .withColumn("earlier_seq", F.lag("seq").over(sent))
            .withColumn("earlier_offset", F.lag("offset").over(sent))
            .withColumn("earlier_outcome", F.lag(F.coalesce("outcome", F.lit("unknown"))).over(sent))
            .filter(F.col("offset") <= F.col("earlier_offset"))
            .withColumns({"severity": severity, "reason": reason})
            .withColumns({"began": F.col("invoked"), "ended": F.col("completed")})
            .select(
                *MEANING, *VALUE, *PLACE, "offset", "earlier_seq", "earlier_offset", "outcome", "earlier_outcome",
                "idempotent", "max_in_flight",
            )
        )  # fmt: skip

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``reordered_records`` of each topic, allowed or not."""
        wrong = None if found.rows is None else found.rows.filter("severity != 'information'")
        return counted(events, wrong, "reordered_records", "topic", tuple(events.case.topics))
