"""Transactions without a recorded outcome: it is unknown whether their records are owed.

A producer writes a row about each of its transactions at its end, with outcome ``info`` if it does not know it. Only a
process that was killed, or has no end marker, may leave a transaction without a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, Process
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.rundir.verdict import Guard


def untold(events: Events) -> Mapping[Process, int]:
    """Count by process the transactions with sends but without a row."""
    if not events.case.transactional:
        return {}
    if events.glances:
        return _at_a_glance(events.rows)
    sends = events.table("sends").filter(F.col("txn").isNotNull()).select("probe", "incarnation", "txn").distinct()
    told = events.table("transactions").select("txn").distinct()
    counts = sends.join(told, on="txn", how="left_anti").groupBy("probe", "incarnation").count()
    return {(row["probe"], row["incarnation"]): row["count"] for row in events.gathered(counts).collect()}


def unended(case: Case, counts: Mapping[Process, int]) -> Iterator[Guard]:
    """Yield a guard for each process that ended cleanly and left such transactions."""
    for (probe, incarnation), count in sorted(counts.items()):
        if (probe, incarnation) in case.ends:
            some = f"{count:,} of its transactions" if count > 1 else "one of its transactions"
            what = f"{probe}/{incarnation} ended cleanly and does not say how {some} ended: events are missing"
            yield Guard(guard="transaction_untold", what=what)


def _at_a_glance(rows: EventRows) -> Counter[Process]:
    txns, probes, numbers = rows.columns("sends", "txn", "probe", "incarnation")
    open_ = (txns != EMPTY) & ~np.isin(txns, rows.column("transactions", "txn"))
    found = Counter[Process]()
    for _, probe, number in np.unique(np.stack((txns[open_], probes[open_], numbers[open_])), axis=1).T.tolist():
        found[rows.word("probe", probe) or "", number] += 1
    return found
