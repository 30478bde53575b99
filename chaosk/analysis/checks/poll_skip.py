"""A consumer that jumps over records."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER, with_isolation, without_seek
from chaosk.analysis.frames.steps import steps
from chaosk.analysis.frames.visible import visible


class PollSkip(Check):
    """Within one assignment, and without a seek, a consumer was given a record and then one beyond the next.

    B1 after the definitions that Jepsen's Kafka workload made known (``poll-skip``, ``int-poll-skip`` within one
    poll). Skipped is only what is proven to be there and visible at the consumer's isolation level: other readers or
    the tail audit were given it; what was acknowledged and nobody saw is ``lost`` or ``lost_write``. What is skipped
    across a rebalance is ``commit_skip``'s matter. Two readers that were given different records after the same offset
    (A12, reader divergence) are told here: the one that went further jumped over what the other was given.

    Columns: probe, incarnation, group, assignment, topic, partition, before (the last offset in order), skipped (the
    first offset that is missing), offset (the one that came instead), before_poll, poll.
    """

    rule = "B1"
    also = ("A12",)
    title = "consumers that jump over records"
    counted = ("jump over records", "jumps over records")
    tables = ("reads", "seeks", "audit", "sends", "incarnations")
    order = (*MEMBER, *PLACE, "assignment", "offset", "poll")
    screens = ("jumped",)

    def violations(self, events: Events) -> DataFrame:
        """Rows of deliveries beyond the next visible record."""
        ahead = events.frame(steps).filter(F.col("offset") > F.col("before") + 1)
        spans = ahead.select(*PLACE, F.col("before").alias("low"), F.col("offset").alias("high"))
        known = visible(events, spans).select(
            "isolation", *PLACE, F.col("offset").alias("before"), F.col("following").alias("skipped")
        )
        jumps = (
            events.near(with_isolation(events, ahead))
            .join(known, on=["isolation", *PLACE, "before"], how="inner")
            .filter(F.col("skipped") < F.col("offset"))
        )
        return (
            without_seek(events, jumps)
            .withColumns(meaning(otherwise=("violation", None)))
            .withColumns(during("before_at", "at"))
            .select(
                *MEANING, *MEMBER, "group", "assignment", *PLACE, "before", "skipped", "offset", "before_poll", "poll"
            )
        )
