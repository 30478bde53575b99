"""Acknowledged, and not in the log."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.acknowledged import acknowledged
from chaosk.analysis.checks._contract import MEANING, Check, during
from chaosk.analysis.counts import counted, measured, shares
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.absent import EXCUSED, absent
from chaosk.analysis.frames.agreement import with_agreement
from chaosk.rundir.verdict import Measure


class Lost(Check):
    """An acknowledged record is not in the log at both isolation levels, and nothing in this run excuses that.

    A4 after the definitions that Jepsen's Kafka workload made known (``lost-write``), by a tail audit that read the
    partition from log start to end. ``kind``:

    - ``lost``: no reader ever had it, and the log holds another record at its offset, or ends before it.
    - ``truncated_after_read``: the same of a record that a reader was given: the log forgot what it had shown. It need
      not have been acknowledged.
    - ``hidden``: read_uncommitted shows it, and read_committed does not, although it is in no transaction, or in one
      that committed.
    - ``deleted``: the log begins behind it.

    A log start that has moved excuses nothing by itself. A deleted record is excused, and is no row here, where the
    topic's settings as a broker reported them can have deleted it by then: it was older than ``retention.ms``, what
    came after it exceeded ``retention.bytes``, or compaction left a later record of its key. It is excused, too, where
    the topic was deleted and made again.

    Allowed: what was cut off a log that was seen to be cut back, by an unclean election, or by the loss of power of all
    hosts that had it while every other replica was kept away. Allowed is, too, what no reader had, with ``acks: 0``, or
    with ``acks`` other than all where another leader was elected after it was sent, or the broker that it was sent to
    still named itself as leader, deposed and cut off. A record that a reader was given lay below the high watermark,
    which ``acks=1`` does not put at risk.

    Open (unproven): the audit of its partition is not complete, or its read_committed pass ended before the record;
    the log's start passed it and nobody reported the topic's settings; its offset is unknown and records were deleted.

    What the brokers' own files hold at its offset is ``replicas``: ``agree`` where every replica holds the same batch,
    or none of them any, so that what the audit saw is all there is; ``differ`` where one has what the others have not:
    the record may still be there, undelivered, on a replica that diverged. Empty where not every host could be asked.

    Columns: kind, acknowledged, the value (producer, producer_incarnation, seq), topic, partition, offset (as read,
    else as acknowledged), replicas, acks, scheduled.
    """

    rule = "A4"
    also = ("D8",)
    title = "acknowledged records that are gone"
    counted = ("record lost", "records lost")
    tables = (
        "sends",
        "reads",
        "audit",
        "audit_ranges",
        "offsets",
        "topic_settings",
        "incarnations",
        "transactions",
        "copies",
    )
    by_absence_of = ("audit", "audit_ranges", "offsets", "remakings")
    order = (*PLACE, "offset", *VALUE)
    screens = ("missing",)
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def violations(self, events: Events) -> DataFrame:
        """Rows of values that the log does not show at both levels, but those that are excused."""
        return (
            with_agreement(events, events.frame(absent).filter(F.col("severity") != EXCUSED))
            .withColumns(during("invoked", F.coalesce("completed", "read_at")))
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
