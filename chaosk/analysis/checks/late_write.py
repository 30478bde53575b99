"""A record that was appended after its transaction had ended."""

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
from chaosk.analysis.glances.rows import EMPTY, Numbers, Rows
from chaosk.analysis.glances.transacted import index_of
from chaosk.analysis.settingsseen import compacted

_TOLD = 3
"""How many partitions that are not judged are named."""


class LateWrite(Check):
    """A record can be read at read_committed, and was appended when its transaction was over, or in another one.

    C2 (KIP-890). A transaction is over in a partition where the marker of its producer id stands; what the same
    producer id writes behind it belongs to its next transaction, which decides on it. ``late``: the record stands
    behind the marker that ended its transaction. ``foreign``: a transaction that began later was ended by the same
    marker. The places of markers are from the leaders' own files; the transactions' names are what the probes wrote
    down. A partition whose files were not read whole is not judged, nor are records of others, nor those of which no
    client wrote down the send.

    Allowed where the log was seen to be cut back, before the record or after it was sent: the marker may be lost then.
    Unproven on compacted topics, where a marker may have been removed.

    Columns: kind, the value, topic, partition, offset, txn, producer_id, marker (offset of the one that ended the
    record's transaction; empty if all of that is foreign), owner (the transaction it stands in).
    """

    rule = "C2"
    title = "records written after the end of their transaction"
    counted = ("late record", "late records")
    tables = ("stretches", "dumps", "audit", "sends")
    by_absence_of = ("transactions", "markers", "stretches", "sends")
    order = (*PLACE, "offset", *VALUE, "kind")

    def glance(self, rows: Rows) -> bool:
        """Whether a transaction has two markers in one log, or a marker two transactions."""
        places, offsets, values = rows.places("audit"), rows.column("audit", "offset"), rows.values("audit")
        marker, txn = _markers(rows, places, offsets), _transactions(rows, values)
        known = (marker != EMPTY) & (txn != EMPTY)
        if not known.any():
            return False
        ends, log, txn = dense(places[known], marker[known]), places[known], txn[known]
        return differ(ends, txn) or differ(dense(log, txn), ends)

    def violations(self, events: Events) -> DataFrame | None:
        """Rows of visible records behind the end of their transaction, or in another one."""
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
            .withColumn("marker", F.when(F.col("home") != F.col("marker"), F.col("home")))
            .withColumns(
                meaning(
                    (among(F.col("topic"), cleaned), "unproven", "compaction removes markers"),
                    *excused(events, F.col("offset")),
                    *excused(events, at=F.col("invoked")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(*MEANING, *columns)
        )

    def unjudged(self, events: Events) -> str | None:
        """Why some partition's transactions are not known."""
        if not events.case.transactional:
            return None
        if not events.case.rows["dumps"]:
            return "nobody asked the hosts for the markers of transactions"
        lacking = events.table("dumps").filter(~F.col("complete")).orderBy(*PLACE).collect()
        lines = [f"{row['topic']}-{row['partition']}: {row['why']}" for row in lacking]
        return f"transactions are not all known: {'; '.join(lines[:_TOLD])}" if lines else None


def _markers(rows: Rows, places: Numbers, offsets: Numbers) -> Numbers:
    """For each place in a log the offset of the marker that ended the transaction it is in; ``EMPTY`` for none."""
    if not rows.count("stretches"):
        return np.full(offsets.size, EMPTY)
    first, last, marker = rows.columns("stretches", "first", "last", "marker")
    found = last_until(rows.places("stretches"), first, places, offsets)
    return np.where((found != EMPTY) & (offsets <= last[found]), marker[found], EMPTY)


def _transactions(rows: Rows, values: Numbers) -> Numbers:
    """By value the transaction that it was sent in; ``EMPTY`` for none."""
    sent, txn = rows.values("sends"), rows.column("sends", "txn")
    order = np.argsort(sent)
    found = index_of(sent[order], values)
    return np.where((found != EMPTY) & (values != EMPTY), txn[order][found], EMPTY) if sent.size else found
