"""Transactions that a fenced client could commit."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER
from chaosk.analysis.frames.epochs import CLIENT, epochs
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.glances.transacted import clients, index_of


class FencedLate(Check):
    """A client committed a transaction, and asked for it after another client had taken over its ``transactional.id``.

    C5. Every later request of the older client must fail: its transaction was aborted before the newer one could begin.
    A transaction without an acknowledged record is not judged, because a client ends it without asking the cluster.

    Columns: txn, transactional_id, producer, producer_incarnation, producer_epoch, ending (time of the commit request),
    ended, succeeded (when the newer client had initialized the id), records (acknowledged in it).
    """

    rule = "C5"
    title = "transactions that a fenced client could commit"
    counted = ("transaction committed by a fenced client", "transactions committed by fenced clients")
    tables = ("transactions", "sends")
    order = ("txn",)

    def glance(self, rows: EventRows) -> bool:
        """Return True if any transaction was committed after its client had a successor."""
        known = clients(rows)
        if known.several.size == 0:
            return False
        endings, outcomes = rows.columns("transactions", "ending", "outcome")
        late = endings > known.succeeded[index_of(known.keys, known.ending)]
        return bool(np.any(late & (outcomes == rows.code("outcome", "committed"))))

    def violations(self, events: Events) -> DataFrame | None:
        """Return transactions that a fenced client committed."""
        if not events.case.transactional:
            return None
        sent = (
            events.table("sends").filter((F.col("outcome") == "ok") & F.col("txn").isNotNull())
            .groupBy("txn").agg(F.count("*").alias("records"))
        )  # fmt: skip
        return (
            events.table("transactions")
            .filter(F.col("outcome") == "committed")
            .withColumnsRenamed(OF_PRODUCER)
            .select("txn", *CLIENT, "ending", "ended")
            .join(events.near(epochs(events).drop("initialized")), on=list(CLIENT), how="inner")
            .filter(F.col("ending") > F.col("succeeded"))
            .join(sent, on="txn", how="inner")
            .withColumns(meaning(otherwise=("violation", None)))
            .withColumns(during("ending", "ended"))
            .select(*MEANING, "txn", "transactional_id", *CLIENT, "ending", "ended", "succeeded", "records")
        )
