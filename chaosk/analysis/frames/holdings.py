"""What each consumer group held of each partition: from when, from where, how far, and what it committed in the end."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER, reads
from chaosk.analysis.frames.polled import polled

OWNED = ("group", *PLACE)
"""Columns that name a partition of a group."""


def holdings(events: Events) -> DataFrame:
    """One row per group and partition that it was ever given.

    ``since``: when it was first given to a member. ``held``: whether it still was when the probes were told to end.
    ``start``: the position it began at (the committed offset it found, or the first it read; None if unknown).
    ``reached``: the highest offset it was given. ``committed``: what it has committed in the end. ``sought``: whether
    a member sought after it had begun to read. ``automatic``: whether a member that held it commits automatically;
    one that was killed may not have said that it did.
    """
    read = (
        events.frame(polled)
        .filter(F.col("group").isNotNull())
        .groupBy(*OWNED)
        .agg(F.min("low").alias("lowest"), F.max("high").alias("reached"), F.min("at").alias("first_at"))
    )
    held = _given(events).join(events.near(read), on=list(OWNED), how="left")
    for part in (_found(events), _sought(events), _committed(events)):
        held = held.join(events.near(part), on=list(OWNED), how="left")
    found = F.when(F.col("begun_by_seek").isNull(), F.col("found"))
    return held.select(
        *OWNED, "since", "held", F.least(found, F.col("lowest")).alias("start"), "reached",
        F.coalesce("committed", "last_committed").alias("committed"),
        F.coalesce(F.col("last_sought") > F.col("first_at"), F.lit(False)).alias("sought"),
        (F.coalesce("automatic", F.lit(False)) | F.col("by_setting")).alias("automatic"),
    )  # fmt: skip


def _given(events: Events) -> DataFrame:
    assigned = F.col("kind") == "assign"
    until = F.max(F.when(~assigned, F.col("at")))
    automatic = events.table("incarnations").filter(F.col("commit") == "automatic").select(*MEMBER)
    return (
        events.table("assignments")
        .filter(F.col("group").isNotNull())
        .join(events.near(automatic.withColumn("set", F.lit(True))), on=list(MEMBER), how="left")
        .groupBy(*OWNED)
        .agg(
            F.min(F.when(assigned, F.col("at"))).alias("since"),
            F.max(F.when(assigned, F.col("at"))).alias("given"),
            until.alias("taken"),
            F.bool_or(assigned & F.coalesce("set", F.lit(False))).alias("by_setting"),
        )
        .filter(F.col("since").isNotNull())
        .withColumn(
            "held",
            F.col("taken").isNull() | (F.col("given") >= F.col("taken")) | (F.col("taken") >= events.case.run.ended),
        )
        .select(*OWNED, "since", "held", "by_setting")
    )


def _found(events: Events) -> DataFrame:
    """The committed offset the group found first."""
    return events.table("fetched").groupBy(*OWNED).agg(F.min_by("offset", "completed").alias("found"))


def _sought(events: Events) -> DataFrame:
    """When members sought last, and whether one did before it had read anything."""
    members = events.table("incarnations").select(*MEMBER, "group").filter(F.col("group").isNotNull())
    return (
        events.table("seeks")
        .join(events.near(members), on=list(MEMBER), how="inner")
        .groupBy(*OWNED)
        .agg(F.max("at").alias("last_sought"), F.min("at").alias("begun_by_seek"))
    )


def _committed(events: Events) -> DataFrame:
    """The committed offset after the run as the cluster tells it, and as the last acknowledged commit has it."""
    told = events.table("groups").groupBy(*OWNED).agg(F.max("offset").alias("committed"))
    modes = F.bool_or(F.col("kind") == "auto").alias("automatic")
    done = events.table("commits").filter(F.col("outcome") == "ok").groupBy(*OWNED)
    own = done.agg(F.max_by("offset", F.struct("completed", "offset")).alias("last_committed"), modes)
    return told.join(own, on=list(OWNED), how="full").select(*OWNED, "committed", "last_committed", "automatic")


def blind(events: Events) -> DataFrame:
    """Offsets that a process without an end marker may have been given without its log saying so.

    One row per such process and partition of a group: ``blind_from`` up to before ``blind_to`` (None: no end), the
    position at which the group went on. What a killed process did in its last moments is not written down: from
    ``blind_since``, its last delivery, to ``blind_until``, when the group went on.
    """
    names = [f"{probe}/{incarnation}" for probe, incarnation in sorted(events.case.unended)]
    cut = F.concat_ws("/", "probe", "incarnation").isin(names)
    rows = reads(events).filter(F.col("group").isNotNull())
    last = rows.filter(cut).groupBy(*OWNED, *MEMBER).agg(F.max("at").alias("last_at"), F.max("offset").alias("last"))
    given = events.table("assignments").filter(cut & (F.col("kind") == "assign") & F.col("group").isNotNull())
    given = given.groupBy(*OWNED, *MEMBER).agg(F.max("at").alias("given_at"))
    held = given.join(events.near(last), on=[*OWNED, *MEMBER], how="left").alias("cut")
    same = [F.col(f"cut.{name}") == F.col(f"next.{name}") for name in OWNED]
    other = (F.col("cut.probe") != F.col("next.probe")) | (F.col("cut.incarnation") != F.col("next.incarnation"))
    later = other & (F.col("next.at") > F.coalesce("cut.last_at", F.lit(0)))
    return (
        held.join(rows.alias("next"), on=[*same, later], how="left")
        .groupBy(*(F.col(f"cut.{name}") for name in (*OWNED, *MEMBER)))
        .agg(
            F.max("last").alias("last"), F.min_by("next.offset", "next.at").alias("blind_to"),
            F.max(F.coalesce("last_at", "given_at")).alias("blind_since"), F.min("next.at").alias("blind_until"),
        )
        .select(
            *OWNED, (F.coalesce("last", F.lit(-1)) + 1).alias("blind_from"), "blind_to", "blind_since", "blind_until"
        )
    )  # fmt: skip


def in_blind(events: Events, rows: DataFrame) -> DataFrame:
    """The rows (with group, topic, partition, offset) and ``blind``: whether a killed process may have had them.

    ``blind_since`` and ``blind_until``: when that was, None where nobody knows.
    """
    if not events.case.unended:
        unknown = F.lit(None).cast("long")
        return rows.withColumns({"blind": F.lit(False), "blind_since": unknown, "blind_until": unknown})
    spots = events.frame(blind).withColumnsRenamed({name: f"_{name}" for name in OWNED})
    same = [F.col(name).eqNullSafe(F.col(f"_{name}")) for name in OWNED]
    before_end = F.col("blind_to").isNull() | (F.col("offset") < F.col("blind_to"))
    hidden = (F.col("offset") >= F.col("blind_from")) & before_end
    marked = rows.join(events.near(spots), on=[*same, hidden], how="left")
    columns = rows.columns
    return marked.groupBy(*columns).agg(
        F.bool_or(F.col("blind_from").isNotNull()).alias("blind"),
        F.min("blind_since").alias("blind_since"), F.max("blind_until").alias("blind_until"),
    )  # fmt: skip
