"""Acknowledged records that are in the log and were never given to a reader."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import MEANING, Check, during
from chaosk.analysis.counts import counted
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.absent import EXCUSED
from chaosk.analysis.frames.lacking import lacking
from chaosk.rundir.verdict import Measure


class Unseen(Check):
    """A reader was never given a record that it is owed: one of its topic, from its start position on.

    A5, after the definitions of Jepsen's Kafka workload (``unseen``), for each consumer group, and each probe that
    reads without one. A reader is owed every partition of the topic, whether or not a member ever owned it. Its start
    is the committed offset that it found, the offset that it sought first, or the result of ``auto.offset.reset``: the
    log start with ``earliest``, the end at that time with ``latest``. Records that are not in the log are judged by
    ``lost``.

    It is a violation if the reader was given a later record of the same partition, or if no member owned the partition
    for longer than its time-outs explain: ``session.timeout.ms`` plus ``max.poll.interval.ms``, and for a partition
    that was created in the run and never assigned ``topic.metadata.refresh.interval.ms`` as well. A reader that assigns
    itself all partitions lists them once: it is owed those that were there when its last process started. It is
    unproven if the reader had not reached the record when the run ended, or no member owned the partition then; if a
    killed process may have had the record without recording it, unless it was sent after the end of that process; if a
    member sought beyond it; or if the start is unknown. Records that a group with automatic commits has committed past,
    and that a killed process may have had, are judged by ``commit_skip``.

    Columns: group (or the probe without one), the value, topic, partition, offset, reached (the highest offset that it
    was given).
    """

    rule = "A5"
    title = "records that a reader was never given"
    counted = ("record never given to a reader", "records never given to a reader")
    metrics = ("unseen_records",)
    tables = ("sends", "reads", "assignments", "fetched", "audit", "seeks", "incarnations", "failures")
    by_absence_of = ("reads", "assignments", "fetched", "seeks")
    by_waiting = True
    order = ("group", *PLACE, "offset", *VALUE)
    screens = ("lacking",)

    def violations(self, events: Events) -> DataFrame:
        """Return written values that a reader lacks without an excuse, by reader."""
        return (
            events.frame(lacking)
            .filter((F.col("rule") == self.rule) & (F.col("severity") != EXCUSED))
            .withColumns(during("invoked", "completed"))
            .withColumn("group", F.col("reader"))
            .select(*MEANING, "group", *VALUE, *PLACE, "offset", "reached")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``unseen_records`` of each group: the proven ones."""
        return counted(events.case, found.where(("violation",)), "unseen_records", "group", events.case.groups)
