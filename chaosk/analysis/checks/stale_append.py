"""Records acknowledged at offsets that the log had already passed."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.gaps import CELL
from chaosk.analysis.frames.placements import crowded
from chaosk.analysis.frames.proven import by_then
from chaosk.analysis.frames.sends import sends, with_settings
from chaosk.analysis.frames.takeovers import elected_by, given_way, with_elections
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.glances.asof import highest_before
from chaosk.analysis.glances.rows import EMPTY, EventRows


class StaleAppend(Check):
    """A record was acknowledged at an offset that the log had reached before the record was sent.

    A11: offsets only increase, so the log was truncated in between, or the acknowledged offset is not the record's. The
    offset that the log had reached is known from acknowledgements and deliveries, to 0.25 s. Offsets at which two
    records were seen are left to ``inconsistent_offset``, which proves the same truncation.

    Allowed if the record itself, or all evidence of the earlier log end, has only an acknowledgement with ``acks``
    other than all, and another leader was seen to be elected by then; unproven if the leader was not observed. Also
    allowed if the log was seen to be truncated at or before that offset, and before the acknowledgement.

    Columns: the value, topic, partition, offset (as acknowledged), reached (the highest offset that had been shown),
    acks.
    """

    rule = "A11"
    title = "records acknowledged at offsets that the log had passed"
    counted = ("record acknowledged where the log had passed", "records acknowledged where the log had passed")
    tables = ("sends", "reads", "audit", "incarnations", "partitions")
    order = (*PLACE, "offset", *VALUE)
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def glance(self, rows: EventRows) -> bool:
        """Return True if any acknowledged offset is at or before one known before the cell in which it was sent."""
        acked = (rows.column("sends", "outcome") == rows.code("outcome", "ok")) & (rows.column("sends", "offset") >= 0)
        places, offsets = rows.places("sends")[acked], rows.column("sends", "offset")[acked]
        invoked, completed = (column[acked] for column in rows.columns("sends", "invoked", "completed"))
        at, read = rows.columns("reads", "at", "offset")
        keys, cells = np.concatenate([places, rows.places("reads")]), np.concatenate([completed, at]) // CELL
        reached = highest_before(keys, cells, np.concatenate([offsets, read]), places, invoked // CELL)
        return bool(((reached != EMPTY) & (offsets <= reached)).any())

    def violations(self, events: Events) -> DataFrame:
        """Return acknowledged values whose offsets had been passed when they were sent."""
        acked = sends(events).filter((F.col("outcome") == "ok") & F.col("offset").isNotNull())
        passed = by_then(events, acked, "invoked").filter(F.col("offset") <= F.col("told"))
        told_once = passed.join(events.near(events.frame(crowded)), on=[*PLACE, "offset"], how="left_anti")
        firm = F.col("offset") <= F.col("firm")
        return (
            with_elections(events, with_settings(events, told_once))
            .withColumns(
                meaning(
                    *excused(events, F.col("offset"), later=F.col("completed")),
                    *given_way(~((F.col("acks") == -1) & firm), elected_by(F.col("completed"))),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .withColumn("reached", F.when(firm, F.col("firm")).otherwise(F.col("told")))
            .select(*MEANING, *VALUE, *PLACE, "offset", "reached", "acks")
        )
