"""Transactions of which only a part is visible."""

from __future__ import annotations

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.epochs import audited, sent_in_transactions
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import committed_reads
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.glances.transacted import shown_committed
from chaosk.analysis.observed_settings import compacted


class TornTransaction(Check):
    """Some records of a transaction are visible at read_committed, and other acknowledged ones are not.

    C3. One visible record proves that its transaction committed, regardless of the outcome that its client knows; then
    all of its records must be visible. A record counts as missing if its partition was audited completely and its
    offset is between log start and the end of the audit. A record of uncertain fate counts, too, if its client was told
    that the transaction committed, which implies that all of it is written, and if a log that was read from 0 on does
    not contain it. Aborted transactions are judged by ``aborted_read``. Allowed if the log was seen to be truncated at
    or before the first missing record. Compacted topics are not judged.

    Columns: txn, producer, producer_incarnation, outcome (None if its process was killed), visible and missing (number
    of records), seq, topic, partition and offset (of the first missing one).
    """

    rule = "C3"
    title = "transactions of which only a part can be read"
    counted = ("torn transaction", "torn transactions")
    tables = ("sends", "transactions", "reads", "audit", "audit_ranges", "incarnations")
    by_absence_of = ("audit", "transactions", "sends", "groups", "commits", "txn_offsets")
    order = ("txn",)

    def glance(self, rows: EventRows) -> bool:
        """Return True if any transaction has records that were seen, and acknowledged ones that were not."""
        txns, outcomes = rows.columns("sends", "txn", "outcome")
        names, endings = rows.columns("transactions", "txn", "outcome")
        aborted, committed = (names[endings == rows.code("outcome", word)] for word in ("aborted", "committed"))
        sent = outcomes == rows.code("outcome", "ok")
        sent |= (outcomes == rows.code("outcome", "info")) & np.isin(txns, committed)
        mine = np.flatnonzero((txns != EMPTY) & sent & ~np.isin(txns, aborted))
        if mine.size == 0:
            return False
        seen = np.isin(rows.values("sends")[mine], shown_committed(rows))
        return bool(np.intersect1d(txns[mine][seen], txns[mine][~seen]).size)

    def violations(self, events: Events) -> DataFrame | None:
        """Return transactions with visible and missing records."""
        if not events.case.transactional:
            return None
        case = events.case
        cleaned = [topic for topic in case.topics if compacted(case, topic)]
        ended = events.table("transactions").select("txn", F.col("outcome").alias("ending"))
        seen = committed_reads(events).withColumn("seen", F.lit(True))
        stored = audited(events).select(*VALUE).distinct().withColumn("stored", F.lit(True))
        there = F.coalesce("seen", F.lit(False))
        gone = ~there & _owed() & ~among(F.col("topic"), cleaned)
        lacking = F.when(gone, F.struct("seq", *PLACE, "offset"))
        return (
            sent_in_transactions(events)
            .join(seen, on=list(VALUE), how="left")
            .join(stored, on=list(VALUE), how="left")
            .join(events.near(events.frame(retained)), on=list(PLACE), how="left")
            .join(events.near(ended), on="txn", how="left")
            .groupBy("txn", "producer", "producer_incarnation", "ending")
            .agg(
                F.count_if(there).alias("visible"), F.count_if(gone).alias("missing"), F.min(lacking).alias("lacking"),
                F.min("invoked").alias("invoked"), F.max("completed").alias("completed"),
            )
            .filter((F.col("visible") > 0) & (F.col("missing") > 0))
            .filter(F.col("ending").isNull() | (F.col("ending") != "aborted"))
            .select("*", "lacking.*")
            .withColumns(
                meaning(
                    *excused(events, F.col("offset"), F.col("completed")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(
                *MEANING, "txn", "producer", "producer_incarnation", F.col("ending").alias("outcome"), "visible",
                "missing", "seq", *PLACE, "offset",
            )
        )  # fmt: skip


def _owed() -> Column:
    """Return a condition: the log was read there, or from 0 on, so it must show a committed record."""
    kept = F.col("complete") & F.col("offset").between(F.col("log_start"), F.col("end") - 1)
    whole = F.col("complete") & (F.col("log_start") == 0)
    timed_out = (F.col("outcome") == "info") & (F.col("ending") == "committed") & F.col("stored").isNull() & whole
    return F.coalesce((F.col("outcome") == "ok") & kept, F.lit(False)) | F.coalesce(timed_out, F.lit(False))
