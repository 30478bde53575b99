"""Terms: assignments of partitions to members, with start, end, and the committed offset found."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER

TERM = (*MEMBER, *PLACE, "assignment")
"""Columns that identify a term."""


@planned_once
def terms(events: Events) -> DataFrame:
    """Return one row per member, partition and assignment: ``TERM``, group, given, taken, how, found, asked, answered.

    ``taken`` and ``how`` (``revoke`` or ``lost``): the end of the assignment; None if not recorded, as for a killed
    process. ``found``: the committed offset that the member found, between ``asked`` and ``answered``. All three are
    None without an answer; only ``found`` is None if nothing was committed.
    """
    rows = events.table("assignments")
    in_turn = Window.partitionBy(*MEMBER, *PLACE).orderBy("assignment")
    given = (
        rows.filter(F.col("kind") == "assign")
        .groupBy(*TERM, "group")
        .agg(F.min("at").alias("given"))
        .withColumn("again", F.lead("given").over(in_turn))
    )
    taken = (
        rows.filter(F.col("kind") != "assign")
        .groupBy(*TERM)
        .agg(F.min("at").alias("taken"), F.min_by("kind", "at").alias("how"))
    )
    fetched = events.table("fetched").select(*MEMBER, *PLACE, "invoked", "completed", "offset")
    answers = (
        fetched.join(events.near(given), on=[*MEMBER, *PLACE], how="inner")
        .filter((F.col("completed") >= F.col("given")) & (F.col("completed") < F.coalesce("again", F.lit(2**62))))
        .groupBy(*TERM)
        .agg(
            F.min("completed").alias("answered"), F.min_by("invoked", "completed").alias("asked"),
            F.min_by("offset", "completed").alias("found"),
        )
    )  # fmt: skip
    return (
        given.join(events.near(taken), on=list(TERM), how="left")
        .join(events.near(answers), on=list(TERM), how="left")
        .select(*TERM, "group", "given", "taken", "how", "found", "asked", "answered")
    )


def by_hand(case: Case) -> tuple[str, ...]:
    """Return probes with manual assignment: the group does not prevent two of them from owning one partition."""
    return tuple(name for name in sorted(case.plan.probes) if _consume(case, name).get("assign") is not None)


def elsewhere(case: Case) -> tuple[str, ...]:
    """Return probes that begin a newly assigned partition elsewhere than at the committed offset."""
    return tuple(
        name for name in sorted(case.plan.probes) if _consume(case, name).get("start", "committed") != "committed"
    )


def _consume(case: Case, probe: str) -> dict[str, object]:
    return dict(case.plan.probes[probe].get("consume") or {})
