"""Range that each consumer group read of each partition, and its final committed offset."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.completeness import gone
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.debts import debts
from chaosk.analysis.frames.deliveries import MEMBER, reads

OWNED = ("group", *PLACE)
"""Columns that identify a partition of a group."""


def holdings(events: Events) -> DataFrame:
    """Return one row per group and partition that it was ever assigned.

    ``start``, ``lowest``, ``reached``, ``beyond``, ``absences``: see ``frames.debts``. ``sought``: a member sought
    after it had begun to read. ``committed``: the final committed offset. ``automatic``: an owner commits
    automatically; by setting as well, since a killed one may not have recorded its commits.
    """
    known = events.frame(debts).withColumnRenamed("reader", "group").select(
        *OWNED, "start", "lowest", "reached", "beyond", "absences"
    )  # fmt: skip
    held = _given(events).join(events.near(known), on=list(OWNED), how="left")
    held = held.join(events.near(committed_offsets(events)), on=list(OWNED), how="left")
    return held.select(
        *OWNED, "start", "lowest", "reached", "absences", "beyond",
        "committed",
        F.col("beyond").isNotNull().alias("sought"),
        (F.coalesce("automatic", F.lit(False)) | F.col("by_setting")).alias("automatic"),
    )  # fmt: skip


def _given(events: Events) -> DataFrame:
    """Return the partitions that a group was ever assigned; ``by_setting``: to a member with automatic commits."""
    automatic = events.table("incarnations").filter(F.col("commit") == "automatic").select(*MEMBER)
    return (
        events.table("assignments")
        .filter(F.col("group").isNotNull() & (F.col("kind") == "assign"))
        .join(events.near(automatic.withColumn("set", F.lit(True))), on=list(MEMBER), how="left")
        .groupBy(*OWNED)
        .agg(F.bool_or(F.coalesce("set", F.lit(False))).alias("by_setting"))
    )


def committed_offsets(events: Events) -> DataFrame:
    """Return by ``OWNED`` the committed offset after the run, and ``automatic``: a commit was.

    It is the one that the cluster reports; without a report, that of the last acknowledged commit.
    """
    told = events.table("groups").groupBy(*OWNED).agg(F.max("offset").alias("told"))
    modes = F.bool_or(F.col("kind") == "auto").alias("automatic")
    done = events.table("commits").filter(F.col("outcome") == "ok").groupBy(*OWNED)
    own = done.agg(F.max_by("offset", F.struct("completed", "offset")).alias("last"), modes)
    both = told.join(own, on=list(OWNED), how="full")
    return both.select(*OWNED, F.coalesce("told", "last").alias("committed"), "automatic")


def blind(events: Events) -> DataFrame:
    """Return offsets that a process without an end marker may have been given without recording them.

    One row per such process and partition of a group: from ``blind_from`` to before ``blind_to`` (None: no end), the
    position at which the group continued. A killed process did not record its last moments: from ``blind_since``, its
    last delivery, to ``blind_until``, when the group continued. ``blind_end``: the latest possible end of the process.
    """
    names = [f"{probe}/{incarnation}" for probe, incarnation in sorted(events.case.unended)]
    cut = F.concat_ws("/", "probe", "incarnation").isin(names)
    rows = reads(events).filter(F.col("group").isNotNull())
    last = rows.filter(cut).groupBy(*OWNED, *MEMBER).agg(F.max("at").alias("last_at"), F.max("offset").alias("last"))
    given = events.table("assignments").filter(cut & (F.col("kind") == "assign") & F.col("group").isNotNull())
    given = given.groupBy(*OWNED, *MEMBER).agg(F.max("at").alias("given_at"))
    given = given.join(events.near(_ends(events)), on=list(MEMBER), how="left")
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
            F.max("blind_end").alias("blind_end"),
        )
        .select(
            *OWNED, (F.coalesce("last", F.lit(-1)) + 1).alias("blind_from"), "blind_to", "blind_since", "blind_until",
            "blind_end",
        )
    )  # fmt: skip


def _ends(events: Events) -> DataFrame:
    """Return the latest possible end of each process without an end marker: ``MEMBER``, ``blind_end``."""
    case = events.case
    cut = [worker for worker in case.workers if (worker.probe, worker.incarnation) in case.unended]
    rows = [(worker.probe, worker.incarnation, gone(case, worker)) for worker in cut]
    return events.local(rows, "probe string, incarnation int, blind_end long")


def in_blind(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``blind`` to rows with group, topic, partition and offset: True if a killed process may have had them.

    If rows have ``invoked``, a record that was sent after the end of the process is not blind. ``blind_since`` and
    ``blind_until`` bound the time of that; None if unknown.
    """
    if not events.case.unended:
        unknown = F.lit(None).cast("long")
        return rows.withColumns({"blind": F.lit(False), "blind_since": unknown, "blind_until": unknown})
    spots = events.frame(blind).withColumnsRenamed({name: f"_{name}" for name in OWNED})
    same = [F.col(name).eqNullSafe(F.col(f"_{name}")) for name in OWNED]
    before_end = F.col("blind_to").isNull() | (F.col("offset") < F.col("blind_to"))
    hidden = (F.col("offset") >= F.col("blind_from")) & before_end
    if "invoked" in rows.columns:
        hidden = hidden & ~F.coalesce(F.col("invoked") > F.col("blind_end"), F.lit(False))
    marked = rows.join(events.near(spots), on=[*same, hidden], how="left")
    columns = rows.columns
    return marked.groupBy(*columns).agg(
        F.bool_or(F.col("blind_from").isNotNull()).alias("blind"),
        F.min("blind_since").alias("blind_since"), F.max("blind_until").alias("blind_until"),
    )  # fmt: skip
