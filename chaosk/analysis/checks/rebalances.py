"""How often and how long groups were busy with themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Span
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.verdict import Measure


class Rebalances(Check):
    """From the first partition that is taken from a member until all members have theirs.

    D7. What members lose and get at overlapping times is one rebalance of the group. The first assignment of a group
    is none, nor is what happens before the baseline or when the consumers are told to end.

    Columns: group, seconds, members (how many processes took part), taken and given (partitions).
    """

    rule = "D7"
    title = "rebalances of consumer groups"
    counted = ("rebalance", "rebalances")
    tables = ("assignments",)
    order = ("began", "group")

    def violations(self, events: Events) -> DataFrame:
        """Rows of rebalances; they are information, an objective decides whether they are too many or too long."""
        turns = _turns(events)
        earlier = Window.partitionBy("group").orderBy("began", "ended", "probe", "incarnation", "turn")
        before = F.max("ended").over(earlier.rowsBetween(Window.unboundedPreceding, -1))
        fresh = before.isNull() | (F.col("began") > before)
        numbered = turns.withColumn("fresh", fresh.cast("int")).withColumn("number", F.sum("fresh").over(earlier))
        return (
            numbered.groupBy("group", "number")
            .agg(
                F.min("began").alias("began"), F.max("ended").alias("ended"), F.sum("taken").alias("taken"),
                F.sum("given").alias("given"), F.count_distinct("probe", "incarnation").alias("members"),
            )
            .filter((F.col("number") > 1) & F.col("began").between(events.case.run.began, events.case.run.ended))
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, "group", "seconds", "members", "taken", "given")
        )  # fmt: skip

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``rebalances`` and ``rebalance_time`` (the longest) of each group and window."""
        rows = found.rows("group", "began", "ended")
        spans = [Span(row["group"], row["began"], row["ended"]) for row in rows]
        return (
            measure
            for group in events.case.groups
            for window in events.case.windows
            for measure in _figures(group, window, [span for span in spans if span.name == group])
        )


def _figures(group: str, window: Span, spans: Sequence[Span]) -> Iterable[Measure]:
    mine = [s for s in spans if window.name == "run" or (s.began <= window.ended and window.began <= s.ended)]
    yield measured("rebalances", group, window.name, float(len(mine)))
    yield measured("rebalance_time", group, window.name, max((s.ended - s.began for s in mine), default=0) / 1e9)


def _turns(events: Events) -> DataFrame:
    """One row per member and turn: from a revocation to the assignment after it, or an assignment alone."""
    rows = events.table("assignments").filter(F.col("group").isNotNull())
    assign = F.col("kind") == "assign"
    own = Window.partitionBy("group", "probe", "incarnation").orderBy("at", "rebalance", "kind")
    # Whatever follows an assignment begins a new turn; what follows a revocation completes it.
    fresh = F.coalesce(F.lag("kind").over(own), F.lit("assign")) == "assign"
    moments = rows.groupBy("group", "probe", "incarnation", "rebalance", "kind").agg(
        F.min("at").alias("at"), F.max("at").alias("until"), F.count("*").alias("n")
    )
    return (
        moments.withColumn("fresh", fresh.cast("int"))
        .withColumn("turn", F.sum("fresh").over(own))
        .groupBy("group", "probe", "incarnation", "turn")
        .agg(
            F.min("at").alias("began"), F.max("until").alias("ended"),
            F.sum(F.when(assign, 0).otherwise(F.col("n"))).alias("taken"),
            F.sum(F.when(assign, F.col("n")).otherwise(0)).alias("given"),
        )
    )  # fmt: skip
