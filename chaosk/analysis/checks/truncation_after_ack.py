"""A leader whose log ends before what had been promised to be in it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, forgiven, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.ends import TERM, ended, ends
from chaosk.analysis.glances.rows import EMPTY, Rows


class TruncationAfterAck(Check):
    """A leader's log ended at or before a record that had been acknowledged with ``acks=all`` or given to a consumer.

    A15: the log was cut back, or a broker without that record was made the leader. It needs no audit and shows when
    it happened, also where other records took the same offsets since. Only leaders are asked: a follower's log may
    end anywhere. A leader that was deposed and does not know it is not held to what was shown after its time: what
    was shown less than five seconds before anyone named a later leader does not count against it.

    Allowed where an unclean election was, or the power of all its hosts was cut.

    Columns: topic, partition, leader, leader_epoch, offset (the highest that had been shown), log_end (the lowest end
    of the leader's log after that), samples (how many answers showed it).
    """

    rule = "A15"
    title = "logs that were cut back behind what was acknowledged"
    counted = ("log cut back behind what was acknowledged", "logs cut back behind what was acknowledged")
    tables = ("offsets", "partitions", "sends", "reads", "incarnations")
    order = TERM

    def glance(self, rows: Rows) -> bool:
        """Whether any leader's log ended at or before what had been shown."""
        log_end, _, shown = ended(rows)
        return bool(((log_end != EMPTY) & (log_end <= shown)).any())

    def violations(self, events: Events) -> DataFrame:
        """Rows of leaders, by epoch, whose logs were too short."""
        return (
            events.frame(ends)
            .filter(F.col("log_end") <= F.col("firm"))
            .groupBy(*TERM)
            .agg(
                F.max("firm").alias("offset"), F.min("log_end").alias("log_end"), F.count("*").alias("samples"),
                F.min("firm_at").alias("shown"), F.max("at").alias("told"),
            )
            .withColumns(
                meaning(
                    *forgiven(events.case),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("shown", "told"))
            .select(*MEANING, *PLACE, "leader", "leader_epoch", "offset", "log_end", "samples")
        )  # fmt: skip
