"""Records given to a group more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.activity import activity
from chaosk.analysis.case import Case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import MEANING, Check, meaning
from chaosk.analysis.counts import counted, shares
from chaosk.analysis.events import Events
from chaosk.analysis.frames import VALUE
from chaosk.analysis.frames.commit_order import committed_before
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.holdings import OWNED, holdings
from chaosk.analysis.frames.suspects import suspected_reads
from chaosk.analysis.frames.truncations import SURE, Truncation, excused
from chaosk.analysis.histograms import Histograms, Key
from chaosk.analysis.windows import ALL
from chaosk.rundir.verdict import Measure


class Redelivery(Check):
    """A group was given the record at one offset more than once.

    B4. This is normal if a member takes over a partition and reads again from the committed offset: information. It is
    *excess*, a violation, if a member begins below an offset whose commit was acknowledged before the member asked for
    the committed offset, or before it was assigned the partition if its question was not answered: that commit was
    lost. The newest commit counts, which need not be the highest: readers that assign themselves the partition may
    share a group, and each commits its own position. If the question was not answered, and several commits may have
    been the newest, the records between them are unproven. Groups whose members seek are not judged for excess. If a
    log was truncated, another record at the same offset counts as its first delivery. Regressions due to a truncation
    are allowed if it was seen. A member that found an offset below the truncation did not go back due to it, unless the
    offset was committed after it.

    Columns: group, topic, partition, offset, deliveries (their number), committed (the offset that the last of these
    deliveries' members had to find, or may have had to find; None if nothing was committed before it asked).
    """

    rule = "B4"
    title = "records that a group was given more than once"
    counted = ("record delivered again", "records delivered again")
    metrics = ("redelivered_records", "redelivered_share")
    tables = ("reads", "commits", "fetched", "assignments", "seeks")
    by_absence_of = ("fetched", "seeks")
    order = (*OWNED, "offset")
    screens = ("repeated",)

    def violations(self, events: Events) -> DataFrame:
        """Return offsets with more than one delivery to a group."""
        rows = suspected_reads(events).filter(F.col("group").isNotNull())
        again = (
            rows.groupBy(*OWNED, "offset", *VALUE)
            .agg(
                F.count("*").alias("deliveries"), F.min("at").alias("began"), F.max("at").alias("ended"),
                F.array_sort(F.collect_set(F.struct(*MEMBER, "assignment"))).alias("terms"),
            )
            .filter(F.col("deliveries") > 1)
        )  # fmt: skip
        known = (
            again.withColumn("term", F.explode("terms"))
            .select(*OWNED, "offset", *VALUE, "deliveries", "began", "ended", "term.*")
            .join(events.near(committed_before(events)), on=[*OWNED, *MEMBER, "assignment"], how="left")
            .groupBy(*OWNED, "offset", *VALUE, "deliveries", "began", "ended")
            .agg(
                F.max("committed").alias("committed"),
                F.max("perhaps").alias("perhaps"),
                F.min(_lost_commit()).alias("behind"),
            )
            .join(events.near(events.frame(holdings).select(*OWNED, "sought")), on=list(OWNED), how="left")
        )
        due, perhaps = (F.coalesce(F.col("offset") < F.col(name), F.lit(False)) for name in ("committed", "perhaps"))
        rows = known.withColumns(
            meaning(
                (F.coalesce("sought", F.lit(False)), "information", "a member sought in this partition"),
                (~due & ~perhaps, "information", "it was not committed yet when a member took over"),
                (~due, "unproven", "several commits may have been the newest when a member took over"),
                *excused(events, F.col("committed") - 1, F.col("began"), later=F.col("ended"), also=_found_after),
                otherwise=("violation", None),
            )
        )
        shown = F.when(due, F.col("committed")).otherwise(F.greatest("committed", "perhaps"))
        return rows.withColumn("committed", shown).select(*MEANING, *OWNED, "offset", "deliveries", "committed")

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``redelivered_records`` and ``redelivered_share`` of each group, by the time of the last delivery."""
        case = events.case
        counts = tuple(counted(case, found, "redelivered_records", "group", case.groups, time="ended"))
        yield from counts
        yield from shares("redelivered_share", counts, _deliveries(case, events.once(activity)))


def _lost_commit() -> Column:
    """Return, for a term that began at or before the record though more was committed, what its member found.

    It is a struct of the offset found (-1: none) and the last time at which that offset was committed (0: never).
    """
    found = F.coalesce("found", F.lit(-1))
    behind = (F.col("committed") > F.col("offset")) & (found <= F.col("offset"))
    return F.when(behind, F.struct(found.alias("found"), F.coalesce("recommitted", F.lit(0)).alias("at")))


def _found_after(cut: Truncation) -> Column:
    """Return a condition: no member found an offset of before a truncation instead of a later commit."""
    late = (F.col("behind.found") >= cut.cut_at) | (F.col("behind.at") >= cut.since - SURE)
    return F.col("behind").isNull() | late


def _deliveries(case: Case, seen: Histograms) -> Counter[tuple[str, str]]:
    """Count the deliveries to members by group and window; the whole run's count includes every one."""
    found: Counter[tuple[str, str]] = Counter()
    for probe, group in sorted({(w.probe, w.group) for w in case.workers if w.group}):
        for window in case.windows:
            found[group, window.name] += seen.counts[Key("read", probe, ALL if window == case.run else window.name)]
    return found
