"""Records that were appended after the end of their transaction."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.markers import written_in_turn
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.glances.asof import last_until
from chaosk.analysis.glances.numbers import dense, differ
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.glances.transacted import index_of
from chaosk.analysis.observed_settings import compacted

_TOLD = 3
"""Maximum number of partitions listed as not judged."""


class LateWrite(Check):
    """A record visible at read_committed was appended after the end of its transaction, or inside another transaction.

    C2 (KIP-890). A transaction ends in a partition at the marker of its producer id. A later record of the same
    producer id belongs to its next transaction, which decides about it. ``late``: the record is after the marker that
    ended its transaction. ``foreign``: the marker after the record ended a transaction that began later. The positions
    of markers are from the leaders' log files; the transactions' names are from the probes' records. A partition whose
    files were not read completely is not judged, nor are records of other clients, nor records whose send no client
    recorded.

    Allowed if the log was seen to be truncated after the transaction began, and the record, or the marker in question,
    stands where it was truncated: the transaction's own marker may be lost then.
    Unproven on compacted topics, where a marker may have been removed.

    Columns: kind, the value, topic, partition, offset, txn, producer_id, marker (offset of the one that ended the
    record's transaction; empty if all records before it are foreign), owner (the transaction that contains it in the
    log).
    """

    rule = "C2"
    title = "records written after the end of their transaction"
    counted = ("late record", "late records")
    tables = ("stretches", "dumps", "audit", "sends")
    by_absence_of = ("transactions", "markers", "stretches", "sends")
    order = (*PLACE, "offset", *VALUE, "kind")

    def glance(self, rows: EventRows) -> bool:
        """Return True if a transaction has two markers in one log, or a marker two transactions."""
        places, offsets, values = rows.places("audit"), rows.column("audit", "offset"), rows.values("audit")
        marker, txn = _markers(rows, places, offsets), _transactions(rows, values)
        known = (marker != EMPTY) & (txn != EMPTY)
        if not known.any():
            return False
        ends, log, txn = dense(places[known], marker[known]), places[known], txn[known]
        return differ(ends, txn) or differ(dense(log, txn), ends)

    def violations(self, events: Events) -> DataFrame | None:
        """Return visible records after the end of their transaction, or inside another one."""
        case = events.case
        if not case.rows["stretches"]:
            return None
        cleaned = [topic for topic in case.topics if compacted(case, topic)]
        columns = ("kind", *VALUE, *PLACE, "offset", "txn", "producer_id", "marker", "owner")
        foreign = F.col("owner") != F.col("txn")
        return (
            written_in_turn(events)
            .filter(F.col("visible") & (foreign | (F.col("marker") != F.col("home"))))
            .withColumn("kind", F.when(foreign, "foreign").otherwise("late"))
            .withColumn("ending", F.when(foreign, F.col("marker")).otherwise(F.col("home")))
            .withColumn("marker", F.when(F.col("home") != F.col("marker"), F.col("home")))
            .withColumns(
                meaning(
                    (among(F.col("topic"), cleaned), "unproven", "compaction removes markers"),
                    *excused(events, F.greatest("offset", "ending"), F.col("since")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(*MEANING, *columns)
        )

    def unjudged(self, events: Events) -> str | None:
        """Return the reason why some partition's transactions are unknown."""
        if not events.case.transactional:
            return None
        if not events.case.rows["dumps"]:
            return "the hosts were not asked for the markers of transactions"
        lacking = events.table("dumps").filter(~F.col("complete")).orderBy(*PLACE).collect()
        lines = [f"{row['topic']}-{row['partition']}: {row['why']}" for row in lacking]
        return f"transactions are not all known: {'; '.join(lines[:_TOLD])}" if lines else None


def _markers(rows: EventRows, places: Numbers, offsets: Numbers) -> Numbers:
    """Return the offset of the marker that ends the transaction at each log position; ``EMPTY`` for none."""
    if not rows.count("stretches"):
        return np.full(offsets.size, EMPTY)
    first, last, marker = rows.columns("stretches", "first", "last", "marker")
    found = last_until(rows.places("stretches"), first, places, offsets)
    return np.where((found != EMPTY) & (offsets <= last[found]), marker[found], EMPTY)


def _transactions(rows: EventRows, values: Numbers) -> Numbers:
    """Return the transaction of each value; ``EMPTY`` for none."""
    sent, txn = rows.values("sends"), rows.column("sends", "txn")
    order = np.argsort(sent)
    found = index_of(sent[order], values)
    return np.where((found != EMPTY) & (values != EMPTY), txn[order][found], EMPTY) if sent.size else found
