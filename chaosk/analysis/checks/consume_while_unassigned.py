"""Deliveries to a consumer that did not own the partition."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.terms import TERM, terms
from chaosk.analysis.glances.before import coded
from chaosk.analysis.glances.rows import EventRows

_NEVER = 2**62


class ConsumeWhileUnassigned(Check):
    """A consumer was given records of a partition before it was assigned, or after it had been revoked or lost.

    B8. Ownership is taken from the client's own callbacks, so clocks of hosts are not compared. If the process has no
    end marker, the row of the assignment may be missing: unproven.

    Columns: probe, incarnation, group, topic, partition, assignment (-1: none), poll, offset (the lowest of that poll),
    records, given and taken (time of assignment and revocation; monotonic nanoseconds).
    """

    rule = "B8"
    title = "deliveries of partitions that the consumer did not hold"
    counted = ("poll with records of a partition not held", "polls with records of partitions not held")
    tables = ("reads", "assignments")
    by_absence_of = ("assignments",)
    order = (*MEMBER, *PLACE, "poll")

    def glance(self, rows: EventRows) -> bool:
        """Return True if a delivery has no assignment, or lies outside of it."""
        numbers = rows.column("reads", "assignment")
        if not numbers.size:
            return False
        names = ("probe", "incarnation", "topic", "partition", "assignment")
        keys = coded(
            *(np.concatenate([rows.column(table, name) for table in ("assignments", "reads")]) for name in names)
        )
        terms_of, places = np.unique(keys, return_inverse=True)
        changes = rows.count("assignments")
        at, gives = rows.column("assignments", "at"), rows.column("assignments", "kind") == rows.code("kind", "assign")
        given, taken = np.full(len(terms_of), _NEVER), np.full(len(terms_of), _NEVER)
        np.minimum.at(given, places[:changes][gives], at[gives])
        np.minimum.at(taken, places[:changes][~gives], at[~gives])
        term, when = places[changes:], rows.column("reads", "at")
        return bool(((numbers < 0) | (when < given[term]) | (when > taken[term])).any())

    def violations(self, events: Events) -> DataFrame:
        """Return polls whose records lie outside of an assignment."""
        polls = (
            events.frame(polled)
            .groupBy(*TERM, "group", "poll")
            .agg(
                F.min("at").alias("at"), F.max("at").alias("until"), F.min("low").alias("offset"),
                F.sum("records").alias("records"),
            )
        )  # fmt: skip
        held = terms(events).select(*TERM, "given", "taken")
        cut_short = [f"{probe} {incarnation}" for probe, incarnation in sorted(events.case.unended)]
        unwritten = F.col("given").isNull() & (F.col("assignment") >= 0) & F.concat_ws(" ", *MEMBER).isin(cut_short)
        return (
            polls.join(events.near(held), on=list(TERM), how="left")
            .filter(F.col("given").isNull() | (F.col("at") < F.col("given")) | (F.col("until") > F.col("taken")))
            .withColumns(
                meaning(
                    (unwritten, "unproven", "its process has no end marker: that it was assigned may not be written"),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("at", "until"))
            .select(
                *MEANING, *MEMBER, "group", *PLACE, "assignment", "poll", "offset", "records", "given", "taken"
            )
        )  # fmt: skip
