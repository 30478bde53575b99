"""Partitions of a group that two members owned at once."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, among, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.holdings import OWNED
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.terms import TERM, by_hand, terms
from chaosk.analysis.glances.before import passed_on
from chaosk.analysis.glances.rows import EventRows

_PAIR = (*OWNED, *MEMBER, "assignment", "other", "other_incarnation", "other_assignment")


class DoubleOwnership(Check):
    """Two members of a group owned the same partition at the same time, and both were given records of it.

    B8. A member owns a partition from its assignment until that is revoked or lost; all members use one clock. A member
    that the group expelled (its heartbeats did not arrive) learns of it late, and then records ``lost``. It may read
    until it learns of it, so this is information. The same applies to a static member that was fenced by another
    process with its ``group.instance.id``. A member that ended or was killed may have been expelled without learning of
    it: unproven. If the group asked a member to revoke the partition, it must not assign it to another one before that:
    a violation. Members with manual assignment are excluded.

    Columns: group, topic, partition, the member that owned it first (probe, incarnation, assignment), the one that was
    assigned it then (other, other_incarnation, other_assignment), how (revoke or lost, None: not recorded), records and
    other_records (given to each of them in that time), seconds.
    """

    rule = "B8"
    title = "partitions in the hands of two members"
    counted = ("partition held by two members at once", "partitions held by two members at once")
    tables = ("assignments", "reads", "polls")
    by_absence_of = ("assignments",)
    order = (*OWNED, "began", "probe", "incarnation", "other", "other_incarnation")

    def glance(self, rows: EventRows) -> bool:
        """Return True if a member was given records of a partition after another member was assigned it."""
        return bool(rows.count("reads") and passed_on(rows, "reads", "at").any())

    def violations(self, events: Events) -> DataFrame:
        """Return pairs of overlapping assignments with deliveries to both."""
        both = _with_records(
            events, _with_records(events, overlaps(events), _FIRST, "records"), _OTHER, "other_records"
        )
        lives = events.table("polls").groupBy(*MEMBER).agg(F.max("invoked").alias("alive"))
        expelled = "the group had expelled or fenced the first one, which learned of it late"
        return (
            both.join(events.near(lives), on=list(MEMBER), how="left")
            .withColumns(
                meaning(
                    (F.col("how") == "lost", "information", expelled),
                    (F.col("how").isNull(), "unproven", "the first one ended: it may have been expelled before"),
                    (
                        F.coalesce(F.col("alive"), F.lit(0)) < F.col("taken"),
                        "unproven",
                        "the first one ended: it may have been expelled before",
                    ),
                    otherwise=("violation", None),
                )
            )
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, *_PAIR, "how", "records", "other_records", "seconds")
        )


_FIRST = dict(zip(TERM, TERM, strict=True))
_OTHER = {**_FIRST, "probe": "other", "incarnation": "other_incarnation", "assignment": "other_assignment"}


def overlaps(events: Events) -> DataFrame:
    """Return pairs of overlapping terms of one partition: ``_PAIR``, how, taken, began, ended.

    A term without a recorded end lasts until its last delivery.
    """
    reached = events.frame(polled).groupBy(*TERM).agg(F.max("at").alias("last"))
    held = (
        terms(events)
        .filter(F.col("group").isNotNull() & ~among(F.col("probe"), by_hand(events.case)))
        .join(events.near(reached), on=list(TERM), how="inner")
        .withColumn("until", F.coalesce("taken", "last"))
    )
    first = held.select(*OWNED, *MEMBER, "assignment", "given", "until", "taken", "how")
    other = held.select(
        *OWNED, *(F.col(name).alias(_OTHER[name]) for name in (*MEMBER, "assignment")),
        F.col("given").alias("began"), F.col("until").alias("other_until"),
    )  # fmt: skip
    another = (F.col("probe") != F.col("other")) | (F.col("incarnation") != F.col("other_incarnation"))
    return (
        first.join(events.near(other), on=list(OWNED), how="inner")
        .filter(another & (_turn("given", *MEMBER) < _turn("began", "other", "other_incarnation")))
        .withColumn("ended", F.least("until", "other_until"))
        .filter(F.col("began") < F.col("ended"))
        .select(*_PAIR, "how", "taken", "began", "ended")
    )


def _turn(*names: str) -> Column:
    return F.struct(*(F.col(name).alias(f"turn_{place}") for place, name in enumerate(names)))


def _with_records(events: Events, pairs: DataFrame, member: dict[str, str], name: str) -> DataFrame:
    """Return pairs of which the member was given records during the overlap, with their number as column ``name``."""
    polls = events.frame(polled).groupBy(*TERM, "at").agg(F.sum("records").alias("some"))
    same = [F.col(f"pair.{member[key]}") == F.col(f"poll.{key}") for key in (*MEMBER, *PLACE, "assignment")]
    same.append((F.col("poll.at") > F.col("pair.began")) & (F.col("poll.at") <= F.col("pair.ended")))
    return (
        polls.alias("poll")
        .join(events.near(pairs).alias("pair"), on=same, how="inner")
        .groupBy(*(F.col(f"pair.{column}") for column in pairs.columns))
        .agg(F.sum("some").alias(name))
    )
