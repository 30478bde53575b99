"""Records read at read_committed before their commit was requested."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.glances.transacted import index_of


class PrecommittedRead(Check):
    """A consumer at read_committed was given a record before the commit of its transaction was requested.

    A7, after the definitions of Jepsen's Kafka workload (``precommitted-read``), for every reader. Records of aborted
    transactions are judged by ``aborted_read``. The time of a delivery is the return of its poll, which is never too
    early.

    Columns: probe, incarnation, group, topic, partition, offset, the value, txn, at, ending (time of the commit
    request), outcome (of the transaction).
    """

    rule = "A7"
    title = "records that were read before their transaction was to be committed"
    counted = ("record read before its commit", "records read before their commit")
    tables = ("sends", "transactions", "reads", "incarnations")
    order = (*MEMBER, *PLACE, "offset", "at", *VALUE)

    def glance(self, rows: EventRows) -> bool:
        """Return True if a reader was given a record of a transaction before its end was requested."""
        if not rows.count("transactions") or not rows.count("sends"):
            return False
        names, endings, outcomes = rows.columns("transactions", "txn", "ending", "outcome")
        names, endings = (each[(outcomes != rows.code("outcome", "aborted")) & (endings != EMPTY)] for each in (
            names, endings,
        ))  # fmt: skip
        if not names.size:
            return False
        until = np.full(max(int(names.max()), int(rows.column("sends", "txn").max(initial=0))) + 2, EMPTY)
        until[names] = endings
        sent, values = rows.column("sends", "txn"), rows.values("sends")
        order = np.argsort(values)
        place = index_of(values[order], rows.values("reads"))
        txn = np.where(place == EMPTY, EMPTY, sent[order][place])
        levels = rows.column("incarnations", "isolation")
        careful = rows.processes("incarnations")[levels == rows.code("isolation", "read_committed")]
        early = rows.column("reads", "at") < until[txn]
        return bool(np.any(early & np.isin(rows.processes("reads"), careful)))

    def violations(self, events: Events) -> DataFrame | None:
        """Return deliveries before the commit request of their transaction."""
        if not events.case.transactional:
            return None
        ended = (
            events.table("transactions")
            .filter((F.col("outcome") != "aborted") & F.col("ending").isNotNull())
            .select("txn", "ending", "outcome")
        )
        sent = (
            events.table("sends")
            .filter(F.col("txn").isNotNull())
            .withColumnsRenamed(OF_PRODUCER)
            .select(*VALUE, "txn", "invoked")
            .join(events.near(ended), on="txn", how="inner")
        )
        careful = events.table("incarnations").filter(F.col("isolation") == "read_committed").select(*MEMBER)
        read = (
            events.table("reads")
            .filter("intact")
            .select(*MEMBER, "group", *PLACE, "offset", *VALUE, "at")
            .join(events.near(careful), on=list(MEMBER), how="left_semi")
        )
        return (
            read.join(sent, on=list(VALUE), how="inner")
            .filter(F.col("at") < F.col("ending"))
            .withColumns(meaning(otherwise=("violation", None)))
            .withColumns(during("invoked", "at"))
            .select(*MEANING, *MEMBER, "group", *PLACE, "offset", *VALUE, "txn", "at", "ending", "outcome")
        )
