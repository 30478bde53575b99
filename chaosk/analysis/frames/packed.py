"""A place in one long, topic and partition above the offset: Spark compares and aggregates longs without sorting."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from chaosk.analysis.case import Case

_OFFSET_BITS = 40
_PARTITION_BITS = 14
_NO_OFFSET = (1 << _OFFSET_BITS) - 1


def packed(case: Case, offset: Column) -> Column:
    """Encode the columns ``topic`` and ``partition`` and an offset as one long; null for a topic not in the scenario.

    Longs order as (topic, partition, offset) do; no offset comes last, no partition first. Capacity: 512 topics, 16,383
    partitions and 10^12 offsets.
    """
    number = F.lit(None).cast("long")
    for place, topic in enumerate(sorted(case.topics)):
        number = F.when(F.col("topic") == topic, F.lit(place).cast("long")).otherwise(number)
    partition = F.coalesce(F.col("partition").cast("long") + 1, F.lit(0).cast("long"))
    log = F.shiftleft(number, _PARTITION_BITS).bitwiseOR(partition)
    return F.shiftleft(log, _OFFSET_BITS).bitwiseOR(F.coalesce(offset, F.lit(_NO_OFFSET)))


def topic_of(case: Case, place: Column) -> Column:
    """Return the topic of a packed place."""
    names = F.array(*(F.lit(topic) for topic in sorted(case.topics)))
    return F.element_at(names, (F.shiftright(place, _OFFSET_BITS + _PARTITION_BITS) + 1).cast("int"))


def partition_of(place: Column) -> Column:
    """Return the partition of a packed place; null if it has none."""
    number = F.shiftright(place, _OFFSET_BITS).bitwiseAND(F.lit((1 << _PARTITION_BITS) - 1).cast("long"))
    return F.when(number > 0, (number - 1).cast("int"))


def offset_of(place: Column) -> Column:
    """Return the offset of a packed place; null if it has none."""
    offset = place.bitwiseAND(F.lit(_NO_OFFSET))
    return F.when(offset != _NO_OFFSET, offset)
