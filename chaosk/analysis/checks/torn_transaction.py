"""Transactions of which a part is visible and the rest is missing, and committed ones that are missing as a whole."""

from __future__ import annotations

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.compaction import with_compaction
from chaosk.analysis.frames.epochs import audited, sent_in_transactions
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.sends import committed_reads
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.frames.unmarked import PERHAPS, UNMARKED, with_unmarked
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.glances.transacted import shown_committed


class TornTransaction(Check):
    """Acknowledged records of a committed transaction are not visible at read_committed.

    C3. A transaction committed if its client was told so, or if one of its records is visible: then all of its records
    must be. A record counts as missing if its partition was audited completely and its offset is between log start and
    the end of the audit. A record of uncertain fate counts, too, if its client was told that the transaction committed,
    which implies that all of it is written, and if a log that was read from 0 on does not contain it. Aborted
    transactions are judged by ``aborted_read``. Allowed if the log was seen to be truncated at or before the first
    missing record, or behind it, so that the marker of the transaction is lost. A record does not count if compaction
    may have removed it: because of a later one of its key, or with an unknown key.

    Columns: txn, producer, producer_incarnation, outcome (None if its process was killed), visible and missing (number
    of records), seq, topic, partition and offset (of the first missing one).
    """

    rule = "C3"
    title = "committed transactions of which a part, or all, cannot be read"
    counted = ("torn transaction", "torn transactions")
    tables = ("sends", "transactions", "reads", "audit", "audit_ranges", "incarnations")
    by_absence_of = ("audit", "transactions", "sends", "groups", "commits", "txn_offsets")
    order = ("txn",)

    def glance(self, rows: EventRows) -> bool:
        """Return True if a committed transaction, or one of which a record was seen, has records that were not."""
        txns, outcomes = rows.columns("sends", "txn", "outcome")
        names, endings = rows.columns("transactions", "txn", "outcome")
        aborted, committed = (names[endings == rows.code("outcome", word)] for word in ("aborted", "committed"))
        sent = outcomes == rows.code("outcome", "ok")
        sent |= (outcomes == rows.code("outcome", "info")) & np.isin(txns, committed)
        mine = (txns != EMPTY) & ~np.isin(txns, aborted)
        if not (mine & sent).any():
            return False
        seen = np.isin(rows.values("sends"), shown_committed(rows))
        return bool(np.isin(txns[mine & sent & ~seen], np.union1d(txns[mine & seen], committed)).any())

    def violations(self, events: Events) -> DataFrame | None:
        """Return committed transactions with missing records."""
        if not events.case.transactional:
            return None
        there = F.coalesce("seen", F.lit(False))
        gone = ~there & _owed() & ~(F.col("compactable") & (F.col("superseded") | ~F.col("keyed")))
        lacking = F.when(gone, F.struct("seq", *PLACE, "offset", "unmarked"))
        committed = (F.col("visible") > 0) | F.coalesce(F.col("ending") == "committed", F.lit(False))
        return (
            with_unmarked(events, with_compaction(events, _sent(events).withColumn("since", F.col("invoked"))))
            .groupBy("txn", "producer", "producer_incarnation", "ending")
            .agg(
                F.count_if(there).alias("visible"), F.count_if(gone).alias("missing"), F.min(lacking).alias("lacking"),
                F.min("invoked").alias("invoked"), F.max("completed").alias("completed"),
            )
            .filter(committed & (F.col("missing") > 0))
            .filter(F.col("ending").isNull() | (F.col("ending") != "aborted"))
            .select("*", "lacking.*")
            .withColumns(
                meaning(
                    *excused(events, F.col("offset"), F.col("completed")),
                    (F.col("unmarked") == UNMARKED, "allowed", UNMARKED),
                    (F.col("unmarked") == PERHAPS, "unproven", PERHAPS),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(
                *MEANING, "txn", "producer", "producer_incarnation", F.col("ending").alias("outcome"), "visible",
                "missing", "seq", *PLACE, "offset",
            )
        )  # fmt: skip


def _sent(events: Events) -> DataFrame:
    """Return the records of transactions with ``ending``, and if they were ``seen`` as committed, and ``stored``."""
    ended = events.table("transactions").select("txn", F.col("outcome").alias("ending"))
    seen = committed_reads(events).withColumn("seen", F.lit(True))
    stored = audited(events).select(*VALUE).distinct().withColumn("stored", F.lit(True))
    return (
        sent_in_transactions(events)
        .join(seen, on=list(VALUE), how="left")
        .join(stored, on=list(VALUE), how="left")
        .join(events.near(events.frame(retained)), on=list(PLACE), how="left")
        .join(events.near(ended), on="txn", how="left")
    )


def _owed() -> Column:
    """Return a condition: the log was read there, or from 0 on, so it must show a committed record."""
    kept = F.col("complete") & F.col("offset").between(F.col("log_start"), F.col("end") - 1)
    whole = F.col("complete") & (F.col("log_start") == 0)
    timed_out = (F.col("outcome") == "info") & (F.col("ending") == "committed") & F.col("stored").isNull() & whole
    return F.coalesce((F.col("outcome") == "ok") & kept, F.lit(False)) | F.coalesce(timed_out, F.lit(False))
