"""Records that were shown although they failed or were aborted."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.deliveries import with_isolation
from chaosk.analysis.frames.sends import committed_reads
from chaosk.analysis.frames.truncations import SURE
from chaosk.analysis.frames.unmarked import PERHAPS, UNMARKED, with_unmarked
from chaosk.analysis.frames.values import values
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.glances.transacted import shown_committed


class AbortedRead(Check):
    """A record was shown although its send had definitely failed, or its transaction was aborted.

    A6, after the definitions of Jepsen's Kafka workload (``aborted-read``, G1a). ``kind`` is ``failed`` if the send
    definitely failed (never sent, or refused before any append; a time-out is uncertain and does not count) and any
    reader saw the record. It is ``aborted`` if the transaction was aborted and a reader at read_committed, or the tail
    audit at that level, was given the record. Readers at read_uncommitted may see aborted records.

    Allowed if the log was seen to be truncated behind the record, so that the marker of its transaction is lost, and it
    was shown after that: the marker of the producer's next transaction then decides about it.

    Columns: kind, the value, topic, partition, offset (the lowest one at which it was seen), error, txn.
    """

    rule = "A6"
    title = "records shown that failed or were aborted"
    counted = ("failed or aborted record shown", "failed or aborted records shown")
    tables = ("sends", "reads", "audit", "transactions", "incarnations", "partitions", "stretches")
    order = (*PLACE, "offset", *VALUE)

    def glance(self, rows: EventRows) -> bool:
        """Return True if a failed record was seen at all, or an aborted one at read_committed."""
        outcome, txn, sent = *rows.columns("sends", "outcome", "txn"), rows.values("sends")
        failed = sent[outcome == rows.code("outcome", "fail")]
        ends, ended = rows.columns("transactions", "outcome", "txn")
        aborted = sent[np.isin(txn, ended[ends == rows.code("outcome", "aborted")])]
        seen = np.concatenate([rows.values("reads"), rows.values("audit")])
        return bool(np.isin(failed, seen).any() or (aborted.size and np.isin(aborted, shown_committed(rows)).any()))

    def violations(self, events: Events) -> DataFrame:
        """Return values that were shown although they failed or were aborted."""
        attempts = events.table("sends").withColumnsRenamed(OF_PRODUCER)
        tried = attempts.select(*VALUE, "txn", "error", "outcome")
        failed = tried.filter(F.col("outcome") == "fail").withColumn("kind", F.lit("failed"))
        over = events.table("transactions").filter(F.col("outcome") == "aborted").select("txn")
        aborted = (
            tried.filter(F.col("outcome") != "fail")
            .join(over, on="txn", how="left_semi")
            .join(committed_reads(events), on=list(VALUE), how="left_semi")
            .withColumn("kind", F.lit("aborted"))
        )
        found = events.frame(values).filter(F.col("first").isNotNull())
        rows = found.select(*VALUE, *PLACE, "offset", "invoked", "read_at").join(
            failed.unionByName(aborted).hint("shuffle_hash"), on=list(VALUE), how="inner"
        )
        after = (F.col("kind") == "aborted") & F.coalesce(F.col("shown_at") >= F.col("cut_since") - SURE, F.lit(True))
        return (
            _with_shown(events, with_unmarked(events, rows))
            .withColumns(
                meaning(
                    (after & (F.col("unmarked") == UNMARKED), "allowed", UNMARKED),
                    (after & (F.col("unmarked") == PERHAPS), "unproven", PERHAPS),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "read_at"))
            .select(*MEANING, "kind", *VALUE, *PLACE, "offset", "error", "txn")
        )


def _with_shown(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``shown_at``: the first time at which a reader at read_committed was given the record; None if none was."""
    if not events.case.transactional:
        return rows.withColumn("shown_at", F.lit(None).cast("long"))
    careful = with_isolation(events, events.table("reads").filter("intact"))
    careful = careful.filter(F.col("isolation") == "read_committed")
    few = careful.join(events.near(rows.select(*VALUE).distinct()), on=list(VALUE), how="left_semi")
    first = few.groupBy(*VALUE).agg(F.min("at").alias("shown_at"))
    return rows.join(events.near(first), on=list(VALUE), how="left")
