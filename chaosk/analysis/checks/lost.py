"""Acknowledged records that are not in the log."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.acknowledged import acknowledged
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import MEANING, Check, during
from chaosk.analysis.counts import counted, measured, shares
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.absent import EXCUSED, absent
from chaosk.analysis.frames.agreement import with_agreement
from chaosk.rundir.verdict import Measure


class Lost(Check):
    """An acknowledged record is not in the log at both isolation levels, and nothing in this run excuses that.

    A4, after the definitions of Jepsen's Kafka workload (``lost-write``), by a tail audit that read the partition from
    log start to end. ``kind``:

    - ``lost``: no reader ever had it, and the log holds another record at its offset, or ends before it.
    - ``truncated_after_read``: the same for a record that a reader was given: the log lost a visible record. It need
      not have been acknowledged.
    - ``hidden``: it is visible at read_uncommitted and not at read_committed, although it is in no transaction, or in a
      committed one.
    - ``deleted``: the log starts after it, as after another client's ``DeleteRecords``.

    An advanced log start alone excuses nothing. A deleted record is excused, and has no row, if the topic's settings as
    reported by a broker can have deleted it: it was older than ``retention.ms``, the records after it exceeded
    ``retention.bytes``, or compaction left a later record of its key. The setting must have been in force at a time
    when the record can have been deleted: between a broker's last answer with the old log start and its first one with
    the new, or after the later record of its key was sent. If brokers reported ``segment.ms`` and ``segment.bytes``,
    the record's segment must have been closed by then, for Kafka deletes whole segments, and compacts closed ones only;
    the last segment is deleted only if all of it has expired. So is a record of a topic that was deleted and recreated.

    Allowed: a record removed by a truncation that was seen. That is an unclean election, or a loss of power while every
    other replica was offline, if a replica that lost data leads next, or all in-sync replicas had lost data. Also
    allowed is a record that no reader had with ``acks: 0``, or with ``acks`` other than all if another broker was
    elected after it was sent, or if its broker was deposed, cut off and still named itself as leader. A record that a
    reader was given was below the high watermark, which ``acks=1`` does not put at risk. No election excuses a hole
    between records of one leader, nor a record whose producer the new leader had acknowledged before. Allowed to be
    ``hidden`` is a record of a transaction whose marker an unclean election cut off, or one behind such a transaction.

    Unproven: the audit of its partition is incomplete, or its read_committed pass ended before the record; the log
    start passed it and no broker reported the topic's settings; its offset is unknown and records were deleted or cut;
    no sample shows the ISR before a loss of power; or the audit found it at read_uncommitted alone, and compaction may
    have removed it meanwhile.

    ``replicas`` compares the batches in the brokers' log files at its offset. ``agree``: every replica holds the same
    batch, or none holds any, so the audit saw everything. ``differ``: one replica has a batch that the others lack, so
    the record may still be there, undelivered, on a diverged replica. Empty if not every host could be asked.

    Columns: kind, acknowledged, the value (producer, producer_incarnation, seq), topic, partition, offset (as read,
    else as acknowledged), replicas, acks, scheduled.
    """

    rule = "A4"
    also = ("D8",)
    title = "acknowledged records that are gone"
    counted = ("record lost", "records lost")
    metrics = ("lost_records", "lost_share", "lost_span")
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
        """Return values that are not visible in the log at both levels, except excused ones."""
        return (
            with_agreement(events, events.frame(absent).filter(F.col("severity") != EXCUSED))
            .withColumns(during("invoked", F.coalesce("completed", "read_at")))
            .withColumn("acknowledged", F.col("written"))
            .select(*MEANING, "kind", "acknowledged", *VALUE, *PLACE, "offset", "replicas", "acks", "scheduled")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``lost_records``, ``lost_share`` and ``lost_span`` of each topic (D8): acknowledged, also allowed ones.

        ``lost_share`` is their share of all acknowledged records, by the window in which records were sent.
        ``lost_span`` is the time from the first to the last of these sends; 0 s if at most one record is lost.
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
