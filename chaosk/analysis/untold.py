"""Transactions of which nobody says how they ended: then nobody knows whether what was written in them is owed.

A producer writes a row about each of its transactions when that has ended, and calls the outcome ``info`` where it does
not know it. Only a process that was killed, or has left no end marker, may leave one without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, Process
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EMPTY, Rows
from chaosk.rundir.verdict import Guard


def untold(events: Events) -> Mapping[Process, int]:
    """By process how many of the transactions that it wrote in have no row."""
    if not events.case.transactional:
        return {}
    if events.glances:
        return _at_a_glance(events.rows)
    sends = events.table("sends").filter(F.col("txn").isNotNull()).select("probe", "incarnation", "txn").distinct()
    told = events.table("transactions").select("txn").distinct()
    counts = sends.join(told, on="txn", how="left_anti").groupBy("probe", "incarnation").count()
    return {(row["probe"], row["incarnation"]): row["count"] for row in events.gathered(counts).collect()}


def unended(case: Case, counts: Mapping[Process, int]) -> Iterator[Guard]:
    """A guard for each process that ended cleanly and left such transactions."""
    for (probe, incarnation), count in sorted(counts.items()):
        if (probe, incarnation) in case.ends:
            some = f"{count:,} of its transactions" if count > 1 else "one of its transactions"
            what = f"{probe}/{incarnation} ended cleanly and does not say how {some} ended: events are missing"
            yield Guard(guard="transaction_untold", what=what)


def _at_a_glance(rows: Rows) -> Counter[Process]:
    txns, probes, numbers = rows.columns("sends", "txn", "probe", "incarnation")
    open_ = (txns != EMPTY) & ~np.isin(txns, rows.column("transactions", "txn"))
    found = Counter[Process]()
    for _, probe, number in np.unique(np.stack((txns[open_], probes[open_], numbers[open_])), axis=1).T.tolist():
        found[rows.word("probe", probe) or "", number] += 1
    return found
