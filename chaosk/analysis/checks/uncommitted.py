"""Records that groups had been given and had not committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.holdings import OWNED
from chaosk.analysis.glances.asof import last_until
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.intervals import ENDLESS
from chaosk.rundir.verdict import Measure

Counts = Counter[tuple[str, str]]
"""Number of records by group and window."""
_BITS = 40


class Uncommitted(Check):
    """Records given to a group by the end of a window, at or beyond its committed offset at that time.

    D11: the records that would be redelivered if every member died at that time. Each offset of a partition counts
    once, regardless of redeliveries. The committed offset is the one last known: of an acknowledged commit, of a
    committed transaction, or the one that a member found at its assignment; the highest of several at the same time. A
    commit without an answer counts as none until a member finds its effect. Without any commit, all records given
    count. Offsets are compared, never subtracted, because control records occupy offsets.
    """

    rule = "D11"
    title = "records that a group had not committed"
    counted = ("record not committed", "records not committed")
    metrics = ("uncommitted_records",)
    tables = ("reads", "commits", "fetched", "txn_offsets", "transactions")

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``uncommitted_records`` of each group, at the end of each window."""
        counts = at_a_glance(events.rows) if events.glances else by_spark(events)
        for group in events.case.groups:
            for window in events.case.windows:
                yield measured("uncommitted_records", group, window.name, float(counts[group, window.name]))


def at_a_glance(rows: EventRows) -> Counts:
    """Count records of a small run without Spark."""
    keys, at, offsets = _owned(rows, "reads"), *rows.columns("reads", "at", "offset")
    names, which = np.unique(keys, return_inverse=True)
    marked, known, marks = _marks(rows)
    groups, counts = rows.column("reads", "group"), Counts()
    for window in rows.case.windows:
        last = last_until(marked, known, names, np.full(names.size, window.ended))
        committed = np.where(last == EMPTY, EMPTY, np.append(marks, EMPTY)[last])
        beyond = (at <= window.ended) & (offsets >= committed[which])
        for group in rows.case.groups:
            mine = beyond & (groups == rows.code("group", group))
            counts[group, window.name] += np.unique((which[mine] << _BITS) | offsets[mine]).size
    return counts


def _marks(rows: EventRows) -> tuple[Numbers, Numbers, Numbers]:
    """Return partition (of a group), time and offset of known committed offsets, by time."""
    done = rows.column("commits", "outcome") == rows.code("outcome", "ok")
    ended, whole = rows.column("transactions", "ended"), rows.code("outcome", "committed")
    of_txn, in_txn = rows.column("transactions", "txn"), rows.column("txn_offsets", "txn")
    ended = np.where(rows.column("transactions", "outcome") == whole, ended, EMPTY)
    times = np.append(ended, EMPTY)[last_until(of_txn, ended, in_txn, np.full(in_txn.size, ENDLESS))]
    sent = times != EMPTY
    found = rows.column("fetched", "offset") != EMPTY
    parts = [
        (_owned(rows, "commits")[done], *(each[done] for each in rows.columns("commits", "completed", "offset"))),
        (_owned(rows, "fetched")[found], *(each[found] for each in rows.columns("fetched", "completed", "offset"))),
        (_owned(rows, "txn_offsets")[sent], times[sent], rows.column("txn_offsets", "offset")[sent]),
    ]
    keys, at, offsets = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((offsets, at))
    return keys[order], at[order], offsets[order]


def _owned(rows: EventRows, table: str) -> Numbers:
    """Encode group and partition as one number."""
    return (rows.column(table, "group") << _BITS) | rows.places(table)


def by_spark(events: Events) -> Counts:
    """Count records of a run of any size with Spark."""
    windows = events.case.windows
    by_end = [F.max(F.when(F.col("at") <= w.ended, F.struct("at", "offset"))).getField("offset") for w in windows]
    committed = events.gathered(_known(events)).groupBy(*OWNED).agg(F.array(*by_end).alias("committed"))
    reads = events.table("reads").filter(F.col("group").isNotNull()).select(*OWNED, "offset", "at")
    given = reads.join(events.near(committed), on=list(OWNED), how="left")
    beyond = [
        F.when((F.col("at") <= w.ended) & (F.col("offset") >= F.coalesce(F.get("committed", n), F.lit(0))), F.lit(n))
        for n, w in enumerate(windows)
    ]
    rows = (
        given.select(*OWNED, "offset", F.explode(F.array_compact(F.array(*beyond))).alias("window"))
        .distinct()
        .groupBy("group", "window")
        .count()
    )
    found = rows.collect()
    return Counts({(row["group"], windows[row["window"]].name): int(row["count"]) for row in found})


def _known(events: Events) -> DataFrame:
    """Return known committed offsets: partition of a group, time, offset."""
    commits, fetched = events.table("commits"), events.table("fetched")
    committed = events.table("transactions").filter(F.col("outcome") == "committed").select("txn", "ended")
    sent = events.table("txn_offsets").join(events.near(committed), on="txn", how="inner")
    done = commits.filter(F.col("outcome") == "ok").select(*OWNED, F.col("completed").alias("at"), "offset")
    found = fetched.filter(F.col("offset").isNotNull()).select(*OWNED, F.col("completed").alias("at"), "offset")
    return done.unionByName(found).unionByName(sent.select(*OWNED, F.col("ended").alias("at"), "offset"))
