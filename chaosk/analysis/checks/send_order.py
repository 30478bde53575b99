"""Order of the log compared with the order of sending."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.counts import counted
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.packed import offset_of, partition_of, topic_of
from chaosk.analysis.frames.retries import maybe_resent, resent, with_retries
from chaosk.analysis.frames.sends import sends, with_settings
from chaosk.analysis.frames.suspects import settled
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.frames.values import values
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.glances.screens import turned
from chaosk.rundir.verdict import Measure


class SendOrder(Check):
    """A record is in the log at or before one that the same process sent earlier to the same partition.

    A8, after the definitions of Jepsen's Kafka workload (``nonmonotonic-send``). Compared are neighbours by sequence
    number among records of known position: the offset in the acknowledgement, else the lowest one at which any reader
    was given the record. A lost record has no position: if an audit is complete and the record was never seen, the
    acknowledged offset does not count. Consumers' assignments are irrelevant here.

    Allowed without ``enable.idempotence`` and with several requests in flight, if something shows that the earlier
    record may have been sent again (see ``duplicate_in_log``): another one may overtake a retry. Without that it is
    unproven, and with ``retries: 0`` a violation unless the leader changed. Also allowed if the log was seen to be
    truncated at or before the earlier record: its offset is reused. If the earlier record was not acknowledged, its
    late arrival breaks no promise and is information.

    Columns: the value, topic, partition, offset, earlier_seq, earlier_offset (of its neighbour), outcome,
    earlier_outcome, idempotent, max_in_flight.
    """

    rule = "A8"
    title = "records that stand in the log in another order than they were sent"
    counted = ("record out of order", "records out of order")
    metrics = ("reordered_records",)
    tables = ("sends", "reads", "audit", "audit_ranges", "incarnations", "partitions", "errors", "connections")
    order = (*PLACE, *VALUE)
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def glance(self, rows: EventRows) -> bool:
        """Return True if any record was seen out of order."""
        return turned(rows)

    def violations(self, events: Events) -> DataFrame:
        """Return values whose position is not after that of the value sent before."""
        turned = _turned(events)
        overtaking = "enable.idempotence is off and several requests were in flight: a retry may overtake"
        loose = ~F.col("idempotent") & (F.col("max_in_flight") != 1)
        return (
            with_retries(events, with_settings(events, turned), "earlier_")
            .withColumns(
                meaning(
                    (F.col("idempotent").isNull(), "unproven", "the settings of its producer are unknown"),
                    *resent(loose, overtaking),
                    *excused(events, F.col("earlier_offset"), later=F.col("completed")),
                    (F.col("earlier_outcome") != "ok", "information", "the earlier record was not acknowledged"),
                    *maybe_resent(loose),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(
                *MEANING, *VALUE, *PLACE, "offset", "earlier_seq", "earlier_offset", "outcome", "earlier_outcome",
                "idempotent", "max_in_flight",
            )
        )  # fmt: skip

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``reordered_records`` of each topic: violations and allowed ones."""
        wrong = found.where(("violation", "allowed"))
        return counted(events.case, wrong, "reordered_records", "topic", tuple(events.case.topics))


def _turned(events: Events) -> DataFrame:
    """Return values that are not after the one sent before to the same log, whose columns are ``earlier_...``.

    A log of a process is identified by a 64-bit hash, because longs sort faster than names.
    """
    sent = Window.partitionBy("log").orderBy("seq")
    before = {"earlier_seq": F.col("seq"), "earlier_offset": F.col("offset")}
    before["earlier_outcome"] = F.coalesce("outcome", F.lit("unknown"))
    before |= {f"earlier_{name}": F.col(name) for name in ("invoked", "completed")}
    return (
        _placed(events)
        .withColumn("log", F.xxhash64("producer", "producer_incarnation", *PLACE))
        .withColumns({name: F.lag(value).over(sent) for name, value in before.items()})
        .filter(F.col("offset") <= F.col("earlier_offset"))
        .drop("log")
    )


def _placed(events: Events) -> DataFrame:
    """Return one row per value of known position, with its offset."""
    case, columns = events.case, (*VALUE, *PLACE, "offset", "outcome", "invoked", "completed")
    place = F.coalesce(F.when(F.col("first").isNotNull() | _beyond_audit(case), F.col("acked")), "first")
    at = {"topic": topic_of(case, place), "partition": partition_of(place), "offset": offset_of(place)}
    looked_at = events.frame(values).withColumns(at).filter(F.col("offset").isNotNull())
    if events.small:
        return looked_at.select(*columns)
    acked = sends(events).filter((F.col("outcome") == "ok") & F.col("offset").isNotNull())
    return settled(events, acked).select(*columns).unionByName(looked_at.select(*columns))


def _beyond_audit(case: Case) -> Column:
    """Return a condition: the audit is incomplete there or the record deleted, so the acknowledgement stands."""
    log = F.concat_ws("/", *PLACE)
    audited = F.array(*(F.lit(f"{topic}/{partition}") for topic, partition in sorted(case.complete)))
    beyond = ~F.array_contains(audited.cast("array<string>"), log)
    starts = {f"{row['topic']}/{row['partition']}": row["log_start"] for row in case.ranges if row["log_start"] > 0}
    if not starts:
        return beyond
    start = F.create_map(*(F.lit(each) for pair in sorted(starts.items()) for each in pair))[log]
    return beyond | F.coalesce(offset_of(F.col("acked")) < start, F.lit(False))
