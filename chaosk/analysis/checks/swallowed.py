"""Failed in processing, and committed past."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.counts import counted
from chaosk.analysis.events import SMALL, Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.holdings import OWNED, holdings, in_blind
from chaosk.analysis.glances.rows import Rows
from chaosk.verdict import Measure

_RECORD = ("group", *VALUE)


class Swallowed(Check):
    """Every attempt of a group at processing a record failed, and the group has committed past it.

    B3 for consumers that say what failed: the group was given the message, and the application has lost it for good.
    A delivery without a failure is a record that was processed; one is enough, by whichever member, at whichever
    place the record stands. What the group has not committed past will be delivered again, and is not lost. Where a
    killed process may have had the record once more without having written that down, the question is open
    (unproven).

    Columns: group, topic, partition, offset, the value, attempts (how many failed), handling (what was done about the
    last failure: ``swallow``, ``leave``, ``seek_back`` or ``stop``), committed (the group's committed offset in the
    end).
    """

    rule = "B3"
    title = "records that failed in processing and that a group committed past"
    counted = ("record swallowed", "records swallowed")
    tables = ("failures", "reads", "commits", "groups", "fetched", "seeks", "assignments")
    order = (*OWNED, "offset")

    def glance(self, rows: Rows) -> bool:
        """Whether anything failed."""
        return rows.count("failures") > 0

    def violations(self, events: Events) -> DataFrame:
        """Rows of records below a group's committed offset at which every attempt failed."""
        failed = events.table("failures").filter(F.col("group").isNotNull())
        last = {name: F.max_by(name, F.struct("at", "n")).alias(name) for name in (*PLACE, "offset", "handling")}
        failures = failed.groupBy(*_RECORD).agg(
            F.count("*").alias("attempts"), F.min("at").alias("first_at"), F.max("at").alias("last_at"),
            F.max(_retried(events)).alias("retried"), *last.values(),
        )  # fmt: skip
        given = (
            events.table("reads")
            .join(_few(events, failures.select(*_RECORD)), on=list(_RECORD), how="left_semi")
            .groupBy(*_RECORD)
            .agg(F.count("*").alias("deliveries"))
        )
        done = events.frame(holdings).select(*OWNED, "committed")
        swallowed = (
            failures.join(_few(events, given), on=list(_RECORD), how="left")
            .filter(F.coalesce("deliveries", F.lit(0)) <= F.col("attempts"))
            .join(events.near(done), on=list(OWNED), how="inner")
            .filter(F.col("offset") < F.col("committed"))
            .drop("deliveries")
        )
        cut = "a process that was killed may have had it again: its log is cut short"
        return (
            in_blind(events, swallowed)
            .withColumns(meaning((F.col("blind") | F.col("retried"), "unproven", cut), otherwise=("violation", None)))
            .withColumns(during("first_at", "last_at"))
            .select(*MEANING, *OWNED, "offset", *VALUE, "attempts", "handling", "committed")
        )

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``swallowed_records`` of each group: the proven ones."""
        return counted(events.case, found.where(("violation",)), "swallowed_records", "group", events.case.groups)


def _few(events: Events, rows: DataFrame) -> DataFrame:
    """One row of each record that failed, for a join: few, unless an application fails at everything."""
    return events.near(rows) if events.case.rows["failures"] <= SMALL else rows


def _retried(events: Events) -> Column:
    """Whether a failure is one that its process was to try again, and the log of that process is cut short."""
    names = [f"{probe}/{incarnation}" for probe, incarnation in sorted(events.case.unended)]
    return (F.col("handling") == "seek_back") & F.concat_ws("/", "probe", "incarnation").isin(names)
