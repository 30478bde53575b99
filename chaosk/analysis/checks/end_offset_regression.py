"""Regressions of the log end offset that leaders report to clients."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.ends import TERM, ended, ends
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.glances.rows import EMPTY, EventRows


class EndOffsetRegression(Check):
    """A leader reported a log end to consumers at or before a record that had been shown to be there.

    A14: the answer to ListOffsets (latest) must lie beyond every record that was acknowledged with ``acks=all``, or
    given to a consumer, before the request. A new leader that does not know its high watermark yet answers with an
    error instead (KIP-207). The leader's own log still holds the record; otherwise it is ``truncation_after_ack``.
    Answers of deposed leaders that do not know it are not judged. Allowed if the log was seen to be truncated at or
    before that offset, after the record was shown.

    Columns: topic, partition, leader, leader_epoch, offset (the highest that had been shown), high_watermark (the
    lowest end reported after it), samples (number of wrong answers).
    """

    rule = "A14"
    title = "ends of logs that went back"
    counted = ("end of a log that went back", "ends of logs that went back")
    tables = ("offsets", "partitions", "sends", "reads", "incarnations")
    order = TERM

    def glance(self, rows: EventRows) -> bool:
        """Return True if any leader reported an end at or before an offset shown earlier."""
        _, high_watermark, shown = ended(rows)
        return bool(((high_watermark != EMPTY) & (high_watermark <= shown)).any())

    def violations(self, events: Events) -> DataFrame:
        """Return leaders, by epoch, that reported a log end that was too low."""
        held = F.col("log_end").isNull() | (F.col("log_end") > F.col("firm"))
        return (
            events.frame(ends)
            .filter((F.col("high_watermark") <= F.col("firm")) & held)
            .groupBy(*TERM)
            .agg(
                F.max("firm").alias("offset"), F.min("high_watermark").alias("high_watermark"),
                F.count("*").alias("samples"), F.min("firm_at").alias("shown"), F.max("at").alias("told"),
            )
            .withColumns(
                meaning(
                    *excused(events, F.col("offset"), F.col("shown"), later=F.col("told")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("shown", "told"))
            .select(*MEANING, *PLACE, "leader", "leader_epoch", "offset", "high_watermark", "samples")
        )  # fmt: skip
