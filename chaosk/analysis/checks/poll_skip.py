"""Consumers that skip records."""

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
    """Within one assignment a consumer skipped a visible record after its previous one, or after its seek.

    B1, after the definitions of Jepsen's Kafka workload (``poll-skip``, ``int-poll-skip`` within one poll). A record is
    skipped only if it is proven to exist and to be visible at the consumer's isolation level: other readers or the tail
    audit were given it. A record that was acknowledged and never seen is ``lost`` or ``lost_write``. Skips across a
    rebalance are judged by ``commit_skip``, and skips after the last record of a transaction that did not commit by
    ``abort_rewind``. If a log was truncated, one offset may have held several records. A record that was sent after the
    consumer had passed, or that has another leader epoch than the records on both sides, was not skipped. Allowed if
    the log was seen to be truncated at or before the previous record. A record that was deleted since was skipped if a
    leader reported after the jump that its log still had it.

    Two readers that were given different records after the same offset (A12, reader divergence) appear here: the one
    that went further skipped the other one's record.

    Columns: probe, incarnation, group, assignment, topic, partition, before (the previous offset; after a seek the one
    before the position sought), skipped (the first missing offset), offset (the one delivered instead), before_poll,
    poll.
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
        """Return deliveries beyond the next visible record."""
        ahead = events.frame(steps).filter(F.col("offset") > F.col("before") + 1)
        jumps = without_seek(events, _over(events, ahead))
        if events.case.rows["seeks"]:
            beyond = with_isolation(events, events.frame(sought))
            jumps = jumps.unionByName(beyond, allowMissingColumns=True)
        jumps = events.kept(left_to_rewinds(events, jumps))
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
    """Return steps over an offset at which any record was ever seen, with the first such offset (``skipped``).

    It may have been deleted before.
    """
    spans = ahead.select(*PLACE, F.col("before").alias("low"), F.col("offset").alias("high"))
    known = visible(events, spans, deleted=True).select(
        "isolation", *PLACE, F.col("offset").alias("before"), F.col("following").alias("skipped")
    )
    return (
        events.near(with_isolation(events, ahead))
        .join(known, on=["isolation", *PLACE, "before"], how="inner")
        .filter(F.col("skipped") < F.col("offset"))
    )


def _proven(events: Events, jumps: DataFrame) -> DataFrame:
    """Return jumps over a record that existed at that time, with the first such offset (``skipped``)."""
    sides = jumps.drop("skipped")
    for epoch, offset, poll in (("low_epoch", "before", "before_poll"), ("high_epoch", "offset", "poll")):
        here = (*MEMBER, *PLACE, "assignment")
        side = events.table("reads").select(
            *here, F.col("offset").alias(offset), F.col("poll").alias(poll), F.col("leader_epoch").alias(epoch)
        )
        few = events.near(jumps.select(*here, offset, poll).distinct())
        if not events.small:
            side = side.filter(events.is_one_of(F.col(offset), jumps.select(offset)))
        once = events.kept(side.join(few, on=[*here, offset, poll], how="left_semi").distinct())
        sides = sides.join(events.near(once), on=[*here, offset, poll], how="left")
    passing = {"low": F.col("before") + 1, "high": F.col("offset"), "passed": F.col("at")}
    return skipped(events, sides.withColumns(passing))
