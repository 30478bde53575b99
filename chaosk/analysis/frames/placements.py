"""Observed placements ("O"): sightings of values at offsets."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, planned_once
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.packed import offset_of, packed, partition_of, topic_of
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.frames.suspects import doubtful, suspected_audit, suspected_reads, suspected_sends
from chaosk.analysis.frames.values import values

_SEEN = (*VALUE, *PLACE, "offset")


@planned_once
def placements(events: Events) -> DataFrame:
    """Return all sightings ("O"): by readers, by the tail audit, and by acknowledgements, which name an offset.

    One row per sighting: the value, the place, and ``seen`` (seen in the log, else acknowledged). An uncertain send
    that names an offset counts if the log shows its value, or another one of its transaction: the send then happened,
    and every offset in its acknowledgement counts. Records whose payload is not of this run (leftovers of an earlier
    one, other clients) have no value and are excluded.
    """
    return _placed(events, sends(events), events.table("reads"), events.table("audit"))


def _placed(events: Events, sent: DataFrame, given: DataFrame, found: DataFrame) -> DataFrame:
    """Return the sightings in some rows of the three tables."""
    read = given.filter("intact").select(*_SEEN, F.lit(True).alias("seen"))
    audited = found.filter("intact").select(*_SEEN, F.lit(True).alias("seen"))
    attempts = sent.filter(F.col("offset").isNotNull())
    acknowledged = attempts.filter(F.col("outcome") == "ok").select(*_SEEN, F.lit(False).alias("seen"))
    seen = read.unionByName(audited).unionByName(acknowledged)
    if events.case.uncertain_with_offset:
        known = _happened(events)
        uncertain = attempts.filter(F.col("outcome") == "info")
        proven = uncertain.join(known, on=list(VALUE), how="left_semi").select(*_SEEN, F.lit(False).alias("seen"))
        seen = seen.unionByName(proven)
    return events.gathered(seen).select(*_SEEN, "seen")


def _happened(events: Events) -> DataFrame:
    """Return values that are proven to have been sent: seen, or sent in a transaction of which one was seen."""
    seen = events.frame(values).filter(F.col("first").isNotNull()).select(*VALUE)
    if not events.case.transactional:
        return seen
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER).filter(F.col("txn").isNotNull()).select(*VALUE, "txn")
    shown = events.table("reads").filter("intact").select(*VALUE)
    shown = shown.unionByName(events.table("audit").filter("intact").select(*VALUE)).distinct()
    proven = sent.join(shown, on=list(VALUE), how="left_semi").select("txn").distinct()
    return seen.unionByName(sent.join(proven, on="txn", how="left_semi").select(*VALUE)).distinct()


def crowded(events: Events) -> DataFrame:
    """Return places (topic, partition, offset) at which different values were seen.

    Values are compared by a 64-bit hash, and places are packed, because longs aggregate without sorting.
    """
    mine = _placed(events, suspected_sends(events), suspected_reads(events), suspected_audit(events))
    seen = doubtful(events, mine).select(
        packed(events.case, F.col("offset")).alias("place"), F.xxhash64(*VALUE).alias("value")
    )
    return (
        seen.groupBy("place")
        .agg(F.min("value").alias("low"), F.max("value").alias("high"))
        .filter(F.col("low") != F.col("high"))
        .select(
            topic_of(events.case, F.col("place")).alias("topic"),
            partition_of(F.col("place")).alias("partition"),
            offset_of(F.col("place")).alias("offset"),
        )
    )
