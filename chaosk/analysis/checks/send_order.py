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
from chaosk.analysis.frames.packed import offset_of, partition_of, topic_of
from chaosk.analysis.frames.sends import sends, with_settings
from chaosk.analysis.frames.suspects import settled
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.frames.values import values
from chaosk.analysis.glances.rows import Rows
from chaosk.analysis.glances.screens import turned
from chaosk.rundir.verdict import Measure


class SendOrder(Check):
    """A record stands in the log at or before one that the same process sent earlier to the same partition.

    A8 after the definitions that Jepsen's Kafka workload made known (``nonmonotonic-send``). Neighbours are records of
    known place, by sequence number: the offset that the acknowledgement named, else the lowest at which anyone was
    given the record. A record that was lost has no place in any order: where an audit is complete and nobody saw it,
    the acknowledgement's offset does not count. No assignment of a consumer matters.

    Allowed without ``enable.idempotence`` and with several requests in flight: then a retry may overtake. Allowed, too,
    where the log was seen to be cut back at or before the earlier record: its offset is given again. Where the
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
        turned = _turned(events)
        overtaking = "enable.idempotence is off and several requests were in flight: a retry may overtake"
        return (
            with_settings(events, turned)
            .withColumns(
                meaning(
                    (F.col("idempotent").isNull(), "unproven", "the settings of its producer are unknown"),
                    (~F.col("idempotent") & (F.col("max_in_flight") != 1), "allowed", overtaking),
                    *excused(events, F.col("earlier_offset"), later=F.col("completed")),
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


def _turned(events: Events) -> DataFrame:
    """The values that do not stand behind the one sent before to the same log, with what that was: ``earlier_...``.

    Logs of a process are told apart by a hash of 64 bits, because longs are sorted quicker than names.
    """
    sent = Window.partitionBy("log").orderBy("seq")
    before = {"earlier_seq": F.col("seq"), "earlier_offset": F.col("offset")}
    before["earlier_outcome"] = F.coalesce("outcome", F.lit("unknown"))
    return (
        _placed(events)
        .withColumn("log", F.xxhash64("producer", "producer_incarnation", *PLACE))
        .withColumns({name: F.lag(value).over(sent) for name, value in before.items()})
        .filter(F.col("offset") <= F.col("earlier_offset"))
        .drop("log")
    )


def _placed(events: Events) -> DataFrame:
    """One row per value of known place, with its offset."""
    case, columns = events.case, (*VALUE, *PLACE, "offset", "outcome", "invoked", "completed")
    place = F.coalesce(F.when(F.col("first").isNotNull() | _beyond_audit(case), F.col("acked")), "first")
    at = {"topic": topic_of(case, place), "partition": partition_of(place), "offset": offset_of(place)}
    looked_at = events.frame(values).withColumns(at).filter(F.col("offset").isNotNull())
    if events.small:
        return looked_at.select(*columns)
    acked = sends(events).filter((F.col("outcome") == "ok") & F.col("offset").isNotNull())
    return settled(events, acked).select(*columns).unionByName(looked_at.select(*columns))


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
