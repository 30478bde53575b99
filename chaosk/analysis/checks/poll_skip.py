"""A consumer that jumps over records."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER, with_isolation, without_seek
from chaosk.analysis.frames.rewinds import left_to_rewinds
from chaosk.analysis.frames.sought import sought
from chaosk.analysis.frames.steps import steps
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.frames.visible import skipped, visible


class PollSkip(Check):
    """Within one assignment a consumer was given one beyond the record that follows what it had, or where it sought.

    B1 after the definitions that Jepsen's Kafka workload made known (``poll-skip``, ``int-poll-skip`` within one
    poll). Skipped is only what is proven to be there and visible at the consumer's isolation level: other readers or
    the tail audit were given it; what was acknowledged and nobody saw is ``lost`` or ``lost_write``. What is skipped
    across a rebalance is ``commit_skip``'s matter, and behind the last record of a transaction that was not committed
    ``abort_rewind``'s. An offset may have been several records, where a log was cut back: one that was sent after the
    consumer had passed, or that another leader wrote than those of the records on both sides, was not skipped. Allowed
    where the log was seen to be cut back at or before the record that the consumer had last.

    Two readers that were given different records after the same offset (A12, reader divergence) are told here: the one
    that went further jumped over what the other was given.

    Columns: probe, incarnation, group, assignment, topic, partition, before (the last offset in order; after a seek the
    one before the position sought), skipped (the first offset that is missing), offset (the one that came instead),
    before_poll, poll.
    """

    rule = "B1"
    also = ("A12",)
    title = "consumers that jump over records"
    counted = ("jump over records", "jumps over records")
    tables = ("reads", "seeks", "audit", "sends", "transactions", "incarnations")
    by_absence_of = ("reads", "seeks")
    order = (*MEMBER, *PLACE, "assignment", "offset", "poll")
    screens = ("jumped", "sought")

    def violations(self, events: Events) -> DataFrame:
        """Rows of deliveries beyond the next visible record."""
        ahead = events.frame(steps).filter(F.col("offset") > F.col("before") + 1)
        jumps = without_seek(events, _over(events, ahead))
        if events.case.rows["seeks"]:
            beyond = with_isolation(events, events.frame(sought))
            jumps = jumps.unionByName(beyond, allowMissingColumns=True)
        jumps = left_to_rewinds(events, jumps)
        if not jumps.isEmpty():
            jumps = _proven(events, jumps)
        return (
            jumps.withColumns(
                meaning(
                    *excused(events, F.col("before"), F.col("before_at"), later=F.col("at")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("before_at", "at"))
            .select(
                *MEANING, *MEMBER, "group", "assignment", *PLACE, "before", "skipped", "offset", "before_poll", "poll"
            )
        )  # fmt: skip


def _over(events: Events, ahead: DataFrame) -> DataFrame:
    """The steps over an offset at which anyone ever saw a record, with the first such one (``skipped``)."""
    spans = ahead.select(*PLACE, F.col("before").alias("low"), F.col("offset").alias("high"))
    known = visible(events, spans).select(
        "isolation", *PLACE, F.col("offset").alias("before"), F.col("following").alias("skipped")
    )
    return (
        events.near(with_isolation(events, ahead))
        .join(known, on=["isolation", *PLACE, "before"], how="inner")
        .filter(F.col("skipped") < F.col("offset"))
    )


def _proven(events: Events, jumps: DataFrame) -> DataFrame:
    """Those of the jumps over a record that was there then, with the first such one (``skipped``)."""
    sides = jumps.drop("skipped")
    for epoch, offset, poll in (("low_epoch", "before", "before_poll"), ("high_epoch", "offset", "poll")):
        here = (*MEMBER, *PLACE, "assignment")
        side = events.table("reads").select(
            *here, F.col("offset").alias(offset), F.col("poll").alias(poll), F.col("leader_epoch").alias(epoch)
        )
        few = events.near(jumps.select(*here, offset, poll).distinct())
        once = side.join(few, on=[*here, offset, poll], how="left_semi").distinct()
        sides = sides.join(events.near(once), on=[*here, offset, poll], how="left")
    passing = {"low": F.col("before") + 1, "high": F.col("offset"), "passed": F.col("at")}
    return skipped(events, sides.withColumns(passing))
