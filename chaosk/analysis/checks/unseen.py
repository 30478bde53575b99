"""Acknowledged, still in the log, and never given to a group."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.counts import counted
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.holdings import OWNED, holdings, in_blind
from chaosk.analysis.frames.values import given_to, values
from chaosk.verdict import Measure


class Unseen(Check):
    """A group that held a partition from before a record was written until the end was never given that record.

    A5 after the definitions that Jepsen's Kafka workload made known (``unseen``), per group, for records that are in
    the log; those that are not are ``lost``. A violation only where the group was given a later record of the same
    partition: a group that has not come so far has had no time yet, and that leaves the question open (unproven).
    Open it is also where a killed process may have had the record without having written that down, or where a
    member sought. What a group with automatic commits has committed past in the hands of a killed process is told
    as ``commit_skip``.

    Columns: group, the value, topic, partition, offset, reached (the highest offset the group was given).
    """

    rule = "A5"
    title = "records that a group was never given"
    counted = ("record never given to a group", "records never given to a group")
    tables = ("sends", "reads", "assignments", "fetched", "audit", "seeks", "incarnations")
    order = (*OWNED, "offset", *VALUE)
    screens = ("lacking",)

    def violations(self, events: Events) -> DataFrame:
        """Rows of written values by group that held their partition and lacks them."""
        known = ("since", "start", "reached", "sought", "automatic", "committed")
        held = events.frame(holdings).filter("held").select(*OWNED, *known)
        owed = events.frame(values).filter(F.col("written") & F.col("audited"))
        lacking = (
            owed.join(events.near(held), on=list(PLACE), how="inner")
            .filter((F.col("invoked") >= F.col("since")) & ~given_to(events.case, F.col("group")))
            .filter(F.col("start").isNull() | (F.col("offset") >= F.col("start")))
            .select(*OWNED, *VALUE, "offset", *known, "invoked", "completed")
        )
        ran_ahead = F.col("automatic") & (F.col("offset") < F.col("committed")) & F.col("start").isNotNull()
        return (
            in_blind(events, lacking)
            .filter(~(F.coalesce(ran_ahead, F.lit(False)) & F.col("blind") & ~F.col("sought")))
            .withColumns(
                meaning(
                    (F.col("reached").isNull(), "unproven", "the group was given nothing of this partition"),
                    (
                        F.col("offset") > F.col("reached"),
                        "unproven",
                        "the group had not come so far when the run ended",
                    ),
                    (F.col("blind"), "unproven", "a process that was killed may have had it: its log is cut short"),
                    (F.col("sought"), "unproven", "a member sought in this partition"),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(*MEANING, "group", *VALUE, *PLACE, "offset", "reached")
        )

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``unseen_records`` of each group: the proven ones."""
        return counted(events.case, found.where(("violation",)), "unseen_records", "group", events.case.groups)
