"""Number and duration of rebalances of consumer groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, Process, TimeSpan
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, meaning
from chaosk.analysis.completeness import incomplete, there
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.windows import Segments
from chaosk.rundir.verdict import Measure

FENCED = "FENCED_INSTANCE_ID"
"""Error of a static member whose ``group.instance.id`` another process has taken."""
_SOON = 15_000_000_000
_MISSED = 60_000_000_000


class Rebalances(Check):
    """Time from the first partition revoked from a member until all revoked partitions have been assigned again.

    D7. A revoked partition is in transit until a member is assigned it, and overlapping transits are one rebalance of
    the group. If the new member's process began only afterwards, the revocation and the assignment are two rebalances.
    The revocations and assignments of one member alone do not suffice: in the cooperative protocol a member may only
    lose partitions.

    Not counted are: the first assignment of a group; changes before the baseline or when the consumers are asked to
    end; the restart of a static member (``group.instance.id``) that gets its partitions back before another member had
    them; and the replacement of a static member by another process with its id, which fences it. The group does not
    notice the last two.

    *Unnecessary* is a rebalance with the same members before and after: no process of the group started, ended or was
    killed at that time, no partition was lost, and as many were assigned as revoked. Its cause is unknown, so this is a
    figure and no finding. A partition has *moved* if it was assigned to another member than the last time.

    Columns: group, seconds, members (number of processes involved), taken and given (partitions revoked and assigned),
    lost (number of those revoked that were lost).
    """

    rule = "D7"
    title = "rebalances of consumer groups"
    counted = ("rebalance", "rebalances")
    metrics = ("rebalance_time", "rebalances", "unnecessary_rebalances", "moved_partitions")
    tables = ("assignments", "incarnations", "ends", "polls", "errors")
    as_recorded = True
    order = ("began", "group")

    def violations(self, events: Events) -> DataFrame:
        """Return rebalances as information; an objective decides whether they are too many or too long."""
        earlier = Window.partitionBy("group").orderBy("began", "ended", *MEMBER, *PLACE)
        before = F.max("ended").over(earlier.rowsBetween(Window.unboundedPreceding, -1))
        fresh = before.isNull() | (F.col("began") > before)
        ways = _ways(events).withColumn("fresh", fresh.cast("int"))
        numbered = ways.withColumn("number", F.sum("fresh").over(earlier))
        return (
            numbered.groupBy("group", "number")
            .agg(
                F.min("began").alias("began"), F.max("ended").alias("ended"), F.sum("taken").alias("taken"),
                F.sum("given").alias("given"), F.sum("lost").alias("lost"),
                F.count_distinct(*MEMBER).alias("members"),
            )
            .filter((F.col("number") > 1) & F.col("began").between(events.case.run.began, events.case.run.ended))
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, "group", "seconds", "members", "taken", "given", "lost")
        )  # fmt: skip

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield number of rebalances, unnecessary ones, ``rebalance_time`` (the longest) and moved partitions by group.

        None in a window that ended before any member started. Censored in a window in which a member's log may be
        incomplete.
        """
        rows = found.rows("group", "began", "ended", "taken", "given", "lost")
        spans = [TimeSpan(row["group"], row["began"], row["ended"]) for row in rows]
        even = [
            TimeSpan(r["group"], r["began"], r["ended"]) for r in rows if r["taken"] == r["given"] and not r["lost"]
        ]
        changed = events.once(changes) if even else {}
        idle = [span for span in even if not any(_overlap(span, change) for change in changed[span.name])]
        moved = events.once(moves) if spans else Counter()
        for group in events.case.groups:
            members = [worker.probe for worker in events.case.workers if worker.group == group]
            for window in events.case.windows:
                counts = _figures(window, group, spans, idle) | {"moved_partitions": float(moved[group, window.name])}
                here, more = there(events.case, members, window), incomplete(events.case, members, window)
                for metric, value in counts.items():
                    yield measured(metric, group, window.name, value if here else None, censored=here and more)


def moves(events: Events) -> Counter[tuple[str, str]]:
    """Count by group and window the assignments of a partition to another member than its last one."""
    given = _noticed(events, events.table("assignments").filter(F.col("group").isNotNull()))
    of_partition = Window.partitionBy("group", *PLACE).orderBy("at", "probe", "incarnation", "rebalance")
    before = F.lag(F.struct(*MEMBER)).over(of_partition)
    segments, counts = Segments(events.case.windows), Counter[tuple[str, str]]()
    rows = given.filter(F.col("kind") == "assign").withColumn("before", before)
    for row in (
        events.gathered(rows.filter(F.col("before").isNotNull() & (F.col("before") != F.struct(*MEMBER))))
        .groupBy("group", *segments.of(F.col("at")))
        .count()
        .collect()
    ):
        for window in segments.windows(row):
            counts[row["group"], window] += int(row["count"])
    return counts


def changes(events: Events) -> dict[str, list[TimeSpan]]:
    """Return by group the spans in which a change of its members may cause a rebalance.

    A started process may cause one until it has partitions, and for at least 15 s. A process that ends may cause one
    within 15 s of its end, and a killed process within 60 s of its last poll.
    """
    case = events.case
    given = events.table("assignments").filter(F.col("kind") == "assign").groupBy(*MEMBER).agg(F.min("at").alias("at"))
    polled = events.table("polls").groupBy(*MEMBER).agg(F.max("completed").alias("at"))
    first, seen, ends = (_by_process(rows) for rows in (given, polled, events.table("ends")))
    found: dict[str, list[TimeSpan]] = {}
    for worker in case.workers:
        process = (worker.probe, worker.incarnation)
        stays = found.setdefault(worker.group or "", [])
        stays.append(TimeSpan("start", worker.started, max(worker.started + _SOON, first.get(process, 0))))
        if process in ends:
            stays.append(TimeSpan("end", ends[process] - _SOON, ends[process] + _SOON))
        else:
            last = seen.get(process, worker.started)
            stays.append(TimeSpan("kill", last, last + _MISSED))
    return found


def _by_process(rows: DataFrame) -> dict[Process, int]:
    return {(row["probe"], row["incarnation"]): row["at"] for row in rows.select(*MEMBER, "at").collect()}


def _figures(window: TimeSpan, group: str, spans: Sequence[TimeSpan], idle: Sequence[TimeSpan]) -> dict[str, float]:
    mine, its_idle = (
        [s for s in each if s.name == group and (window.name == "run" or _overlap(s, window))] for each in (spans, idle)
    )
    longest = max((s.ended - s.began for s in mine), default=0) / 1e9
    return {
        "rebalances": float(len(mine)), "unnecessary_rebalances": float(len(its_idle)), "rebalance_time": longest,
    }  # fmt: skip


def _overlap(span: TimeSpan, window: TimeSpan) -> bool:
    return span.began <= window.ended and window.began <= span.ended


def static(case: Case) -> dict[str, str]:
    """Return the ``group.instance.id`` by probe; a process replaces the earlier one with the same id."""
    consumes = {name: kinds.get("consume") or {} for name, kinds in case.plan.probes.items()}
    ids = {name: (each.get("config") or {}).get("group.instance.id") for name, each in sorted(consumes.items())}
    return {name: str(one) for name, one in ids.items() if one is not None}


def _noticed(events: Events, rows: DataFrame) -> DataFrame:
    """Remove assignments that one process of a static member gave up and its next process took up.

    A fenced process lost no partition of the member: it only learned that another process is now the member.
    """
    members = static(events.case)
    if not members:
        return rows
    fenced = (
        events.table("errors").filter(F.col("error") == FENCED)
        .select(*MEMBER).distinct().withColumn("fenced", F.lit(True))
    )  # fmt: skip
    member = reduce(
        lambda found, one: F.when(F.col("probe") == one[0], F.lit(one[1])).otherwise(found),
        members.items(), F.lit(None).cast("string"),
    )  # fmt: skip
    of_partition = Window.partitionBy("group", *PLACE).orderBy("at", "probe", "incarnation", "rebalance")
    here = F.struct("member", *MEMBER, "kind")
    marked = (
        rows.join(events.near(fenced), on=list(MEMBER), how="left")
        .withColumn("member", member)
        .filter(F.col("fenced").isNull() | (F.col("kind") != "lost"))
        .withColumns({"before": F.lag(here).over(of_partition), "after": F.lead(here).over(of_partition)})
    )
    assign, lost = F.col("kind") == "assign", F.col("kind") == "lost"
    taken_up = assign & _same_member("before") & (F.col("before.kind") != "lost")
    given_up = ~assign & ~lost & _same_member("after") & (F.col("after.kind") == "assign")
    unnoticed = F.coalesce(taken_up | given_up, F.lit(False))
    return marked.filter(~unnoticed).drop("before", "after", "member", "fenced")


def _same_member(other: str) -> Column:
    """Return a condition: the row before or after is of another process of the same static member."""
    another = F.struct(*(F.col(f"{other}.{name}").alias(name) for name in MEMBER)) != F.struct(*MEMBER)
    return (F.col(f"{other}.member") == F.col("member")) & another


def _ways(events: Events) -> DataFrame:
    """Return one row per revocation or assignment of a partition: began, ended, and 1 in the column of its kind.

    A revoked partition is in transit until a member is assigned it. There is no transit if that member's process began
    later, or if another member had been assigned the partition before, as after a pause.
    """
    workers = events.table("incarnations").select(*MEMBER, "started")
    rows = _noticed(events, events.table("assignments").filter(F.col("group").isNotNull()))
    assign = F.col("kind") == "assign"
    of_partition = Window.partitionBy("group", *PLACE).orderBy("at", *MEMBER, "rebalance")
    given = F.when(assign, F.struct("at", "started", *MEMBER))
    taker = F.first(given, ignorenulls=True).over(of_partition.rowsBetween(1, Window.unboundedFollowing))
    holder = F.last(given, ignorenulls=True).over(of_partition.rowsBetween(Window.unboundedPreceding, -1))
    held = F.struct(*(holder[name] for name in MEMBER)) == F.struct(*MEMBER)
    arrives = F.when(~assign & held & (taker["started"] <= F.col("at")), taker["at"])
    return (
        rows.join(events.near(workers), on=list(MEMBER), how="left")
        .withColumn("ended", F.coalesce(arrives, "at"))
        .select(
            "group", *PLACE, *MEMBER, F.col("at").alias("began"), "ended", (~assign).cast("int").alias("taken"),
            assign.cast("int").alias("given"), (F.col("kind") == "lost").cast("int").alias("lost"),
        )
    )  # fmt: skip
