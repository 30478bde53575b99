"""Records that nobody of this run can have written."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.sends import sends, with_settings
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.glances.rows import Rows

_WHO = ("producer", "producer_incarnation")


class UnknownValue(Check):
    """The log holds a record of this run whose writer never ran, or no readable record where one was acknowledged.

    A10. ``kind`` is ``unknown`` where the payload is whole and names a process that this run did not start (a record
    of a started process without a row of its own is one that a killed probe did not get to write down, and fine);
    ``corrupt`` where the payload's checksum or run is wrong at an offset at which another reader saw a whole record,
    or at which one was acknowledged with ``acks=all``; and ``foreign`` otherwise: somebody else wrote to the topic, or
    an earlier run did, which is information.

    Where the log was seen to be cut back at or before it, ``corrupt`` is allowed: another log took the place.

    Columns: kind, topic, partition, offset, the value (empty if it is not readable), sightings (how often it was
    seen).
    """

    rule = "A10"
    title = "records that nobody can have written"
    counted = ("record that nobody can have written", "records that nobody can have written")
    tables = ("reads", "audit", "incarnations", "sends")
    by_absence_of = ("incarnations", "sends")
    order = (*PLACE, "offset", *VALUE)

    def glance(self, rows: Rows) -> bool:
        """Whether any record is unreadable or of a process that was not started."""
        started = rows.processes("incarnations")
        for table in ("reads", "audit"):
            writers = np.unique(rows.processes(table, "producer", "producer_incarnation"))
            if not rows.column(table, "intact").all() or not np.isin(writers, started).all():
                return True
        return False

    def violations(self, events: Events) -> DataFrame:
        """Rows of places and what was seen there that no process of this run wrote."""
        started = events.table("incarnations").select(
            F.col("probe").alias("producer"), F.col("incarnation").alias("producer_incarnation")
        )
        seen = events.table("reads").select(*PLACE, "offset", *VALUE, "intact", "at")
        seen = events.gathered(
            seen.unionByName(events.table("audit").select(*PLACE, "offset", *VALUE, "intact"), allowMissingColumns=True)
        )
        strange = (
            seen.join(events.near(started.withColumn("ran", F.lit(True))), on=list(_WHO), how="left")
            .filter(~F.col("intact") | F.col("ran").isNull())
            .groupBy(*PLACE, "offset", *VALUE, "intact")
            .agg(F.count("*").alias("sightings"), F.min("at").alias("began"), F.max("at").alias("ended"))
        )
        kind = F.when(F.col("intact"), "unknown").when(F.col("ours"), "corrupt").otherwise("foreign")
        return (
            strange.join(_ours(events, seen, strange), on=[*PLACE, "offset"], how="left")
            .withColumn("kind", kind)
            .withColumns(
                meaning(
                    (F.col("kind") == "unknown", "violation", None),
                    (F.col("kind") == "foreign", "information", "somebody else wrote it, or an earlier run did"),
                    *excused(events, F.col("offset")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("began", "ended"))
            .select(*MEANING, "kind", *PLACE, "offset", *VALUE, "sightings")
        )


def _ours(events: Events, seen: DataFrame, strange: DataFrame) -> DataFrame:
    """The unreadable places at which a record of ours is known to stand: ``ours`` is true."""
    where = [*PLACE, "offset"]
    acked = with_settings(events, sends(events).filter(F.col("outcome") == "ok")).filter(F.col("acks") == -1)
    known = seen.filter("intact").select(*where).unionByName(acked.select(*where))
    unreadable = strange.filter(~F.col("intact")).select(*where).distinct()
    return known.join(events.near(unreadable), on=where, how="left_semi").distinct().withColumn("ours", F.lit(True))
