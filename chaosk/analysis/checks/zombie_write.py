"""Records of fenced clients."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.epochs import CLIENT, audited, epochs, sent_in_transactions
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.glances.transacted import clients, index_of


class ZombieWrite(Check):
    """A client wrote to the log although another one had taken over its ``transactional.id``.

    C1. Initializing a ``transactional.id`` fences every client that had it before. ``late``: the record was handed to
    the older client after the newer one had initialized the id, and it was acknowledged, or is in the log at
    read_committed. ``overtaken``: it is in the log there after a record of the newer client, although open transactions
    of the older one were aborted before the newer one could begin.

    Columns: kind, the value, topic, partition, offset, outcome, txn, transactional_id, succeeded (when the newer client
    had initialized it).
    """

    rule = "C1"
    title = "records of clients that had been fenced"
    counted = ("record of a fenced client", "records of fenced clients")
    tables = ("sends", "transactions", "audit")
    order = (*VALUE, *PLACE, "offset", "kind")

    def glance(self, rows: EventRows) -> bool:
        """Return True if an older client sent after its successor began, or is behind it in the log."""
        known = clients(rows)
        if known.several.size == 0:
            return False
        mine = index_of(known.keys, known.sending)
        sent = np.flatnonzero(mine >= 0)
        values, mine = rows.values("sends")[sent], mine[sent]
        invoked, outcomes = (column[sent] for column in rows.columns("sends", "invoked", "outcome"))
        found, isolation = rows.values("audit"), rows.column("audit", "isolation")
        visible = isolation == rows.code("isolation", "read_committed")
        late = invoked > known.succeeded[mine]
        if np.any(late & ((outcomes == rows.code("outcome", "ok")) | np.isin(values, found[visible]))):
            return True
        order = np.argsort(values)
        whose = index_of(values[order], found)
        ours = np.flatnonzero(whose >= 0)
        whose = mine[order][whose[ours]]
        places, offsets = rows.places("audit")[ours], rows.column("audit", "offset")[ours]
        return any(
            _overtaken(places[of], offsets[of], known.rank[whose[of]], visible[ours][of])
            for of in (known.ids[whose] == name for name in known.several)
        )

    def violations(self, events: Events) -> DataFrame | None:
        """Return records that a client with a successor wrote to the log."""
        if not events.case.transactional:
            return None
        sent = sent_in_transactions(events).join(events.near(epochs(events)), on=list(CLIENT), how="inner")
        there = audited(events)
        known = there.filter("visible").select(*VALUE).distinct().withColumn("there", F.lit(True))
        late = (
            sent.filter(F.col("invoked") > F.col("succeeded"))
            .join(known, on=list(VALUE), how="left")
            .filter((F.col("outcome") == "ok") | F.col("there"))
            .withColumn("kind", F.lit("late"))
        )
        columns = ("kind", *VALUE, *PLACE, "offset", "outcome", "txn", "transactional_id", "succeeded")
        before = Window.partitionBy("transactional_id", *PLACE).orderBy("offset", F.desc("rank"))
        overtaken = (
            sent.drop(*PLACE, "offset")
            .join(there, on=list(VALUE), how="inner")
            .withColumn("highest", F.max("rank").over(before.rowsBetween(Window.unboundedPreceding, 0)))
            .filter(F.col("visible") & (F.col("rank") < F.col("highest")))
            .filter(F.col("invoked") <= F.col("succeeded"))
            .withColumn("kind", F.lit("overtaken"))
        )
        both = late.select(*columns, "invoked", "completed").unionByName(
            overtaken.select(*columns, "invoked", "completed")
        )
        return (
            both.withColumns(meaning(otherwise=("violation", None)))
            .withColumns(during("invoked", "completed"))
            .select(*MEANING, *columns)
        )


def _overtaken(places: np.ndarray, offsets: np.ndarray, ranks: np.ndarray, visible: np.ndarray) -> bool:
    """Return True if a visible record of a client is after one of a later client in the same partition."""
    order = np.lexsort((-ranks, offsets, places))
    _, numbers = np.unique(places[order], return_inverse=True)
    base = numbers * (int(ranks.max(initial=0)) + 1)
    highest = np.maximum.accumulate(ranks[order] + base) if order.size else order
    return bool(np.any(visible[order] & (ranks[order] + base < highest)))
