"""Acknowledged, still in the log, and never given to a reader."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during
from chaosk.analysis.counts import counted
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.absent import EXCUSED
from chaosk.analysis.frames.lacking import lacking
from chaosk.rundir.verdict import Measure


class Unseen(Check):
    """A reader was never given a record that it is owed: one of its topic, from the position on at which it began.

    A5 after the definitions that Jepsen's Kafka workload made known (``unseen``), for each consumer group, and each
    probe that reads without one. It is owed every partition of the topic, whether or not a member ever held it. It
    begins at the committed offset that it found, at the offset that it sought first, or where ``auto.offset.reset``
    says: ``earliest`` at the log's start, ``latest`` at the end as it was when the position was set. Records that are
    not in the log are ``lost``'s matter.

    A violation where the reader was given a later record of the same partition, or where no member held the partition
    for longer than its time-outs explain (``session.timeout.ms`` and ``max.poll.interval.ms`` together).

    Open (unproven): the reader had not come so far when the run ended, or no member held the partition then; a killed
    process may have had the record without having written that down; a member sought beyond it; where it began is not
    known. What a group with automatic commits has committed past in the hands of a killed process is told as
    ``commit_skip``.

    Columns: group (or the probe without one), the value, topic, partition, offset, reached (the highest offset that it
    was given).
    """

    rule = "A5"
    title = "records that a reader was never given"
    counted = ("record never given to a reader", "records never given to a reader")
    tables = ("sends", "reads", "assignments", "fetched", "audit", "seeks", "incarnations", "failures")
    by_absence_of = ("reads", "assignments", "fetched", "seeks")
    by_waiting = True
    order = ("group", *PLACE, "offset", *VALUE)
    screens = ("lacking",)

    def violations(self, events: Events) -> DataFrame:
        """Rows of written values by reader that lacks them without an excuse."""
        return (
            events.frame(lacking)
            .filter((F.col("rule") == self.rule) & (F.col("severity") != EXCUSED))
            .withColumns(during("invoked", "completed"))
            .withColumn("group", F.col("reader"))
            .select(*MEANING, "group", *VALUE, *PLACE, "offset", "reached")
        )

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``unseen_records`` of each group: the proven ones."""
        return counted(events.case, found.where(("violation",)), "unseen_records", "group", events.case.groups)
