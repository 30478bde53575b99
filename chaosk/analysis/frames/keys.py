"""Keys of records: those of producers by their plan, of outputs by their input, of stored offsets by their group."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.observed_settings import compacted


def with_key(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``key`` to rows that name a value: text; None without a key, or if it is not known.

    An output, or a dead letter, has the key of its input. An application that keeps its offsets itself writes them with
    the name of its group as key.
    """
    keyed = rows.withColumn("key", _planned(events.case))
    if not _forwarding(events.case):
        return keyed
    joined = keyed.join(events.frame(_inherited), on=list(VALUE), how="left")
    return joined.withColumn("key", F.coalesce("key", "inherited")).drop("inherited")


def _planned(case: Case) -> Column:
    """Return the key of a value according to the plan of its producer."""
    key = F.lit(None).cast("string")
    for name, probe in case.plan.probes.items():
        keys, consume = (probe.get("produce") or {}).get("keys", "none"), probe.get("consume") or {}
        mine = F.col("producer") == name
        if keys == "sequence":
            key = F.when(mine, F.col("seq").cast("string")).otherwise(key)
        elif isinstance(keys, int):
            key = F.when(mine, (F.col("seq") % F.lit(keys)).cast("string")).otherwise(key)
        elif consume.get("offsets"):
            key = F.when(mine, F.lit(str(consume.get("group")))).otherwise(key)
    return key


def _forwarding(case: Case) -> bool:
    """Return True if a probe writes outputs, or dead letters, to a compacted topic."""
    topics = set()
    for probe in case.plan.probes.values():
        transform, failing = probe.get("transform") or {}, (probe.get("consume") or {}).get("failing") or {}
        topics |= {transform.get("to"), failing.get("topic")}
    return any(compacted(case, topic) for topic in topics if topic in case.topics)


def _inherited(events: Events) -> DataFrame:
    """Return the outputs whose input has a planned key: the output's value, ``inherited``."""
    given = events.table("reads").filter("intact").withColumn("inherited", _planned(events.case))
    given = given.filter(F.col("inherited").isNotNull()).select(*MEMBER, *PLACE, "offset", "inherited").distinct()
    made = events.table("outputs").join(given, on=[*MEMBER, *PLACE, "offset"], how="inner")
    return made.withColumnsRenamed(OF_PRODUCER).groupBy(*VALUE).agg(F.min("inherited").alias("inherited"))
