"""Selection of the records that checks must examine one by one: those on which the sources disagree.

In a run of any length, most records were acknowledged, read by every group and found by the audit, all at one place.
Records are compared in blocks of 64. For each *source* (the acknowledgements, each level of the audit, each reader) and
block, there is a count of rows, a bit set of the records, and an exclusive or of hashes of their places. If all sources
agree in these, and each has each record once, every record of the block is *settled*: nothing is missing, duplicated or
redelivered. The others are *suspected*, and examined one by one.

Hashes of 64 bits collide once in 10^19 blocks that differ. The probes' own tallies, against which the analysis is
checked, use other hashes.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events, spark_schema
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.deliveries import reads, with_reader
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.sends import attempts, sends
from chaosk.analysis.glances.unsettled import chosen, unsettled
from chaosk.analysis.readers import owed
from chaosk.rundir.events import TABLES

_BITS = 6
"""A block has 2**6 records: as many as a long has bits."""
FEW = 200_000
"""Most rows of values that are not settled that are taken out of the tables at once, with numpy."""
_EVERYTHING = "isolation = 'read_uncommitted'"
"""Condition for rows of the audit at the level that shows all records."""
_SENDS, _UNCOMMITTED, _COMMITTED, _READERS = range(4)


def suspects(events: Events) -> DataFrame:
    """Return the blocks that are not settled: ``block``."""
    few = events.once(unsettled_rows)
    if few is None:
        return _by_figures(events)
    sent = _local(events, "sends").withColumnsRenamed(OF_PRODUCER)
    values = [rows.select(*VALUE) for rows in (sent, _local(events, "reads"), _local(events, "audit"))]
    return reduce(DataFrame.unionByName, values).select(_block(0).alias("block")).distinct()


def unsettled_rows(events: Events) -> dict[str, pa.Table] | None:
    """Return the rows of ``sends``, ``reads`` and ``audit`` of values that are not settled.

    None if they are many, or if the run does not fit into memory: then Spark finds them.
    """
    if not events.glances:
        return None
    flags = unsettled(events.rows)
    if sum(int(np.count_nonzero(mine)) for mine in flags.values()) > FEW:
        return None
    return {table: chosen(events.rows, table, mine) for table, mine in flags.items()}


def _by_figures(events: Events) -> DataFrame:
    """Return the blocks by figures of all their rows."""
    rows = _sent(events).unionByName(_audited(events)).unionByName(_read(events))
    of_source = rows.groupBy("block", "source").agg(
        F.count("*").alias("rows"), F.bit_or("bit").alias("bits"), F.bit_xor("mix").alias("mix"),
        F.min("topic").alias("low"), F.max("topic").alias("high"),
    )  # fmt: skip
    figures = ("rows", "bits", "mix")
    of_block = of_source.groupBy("block").agg(
        F.count("*").alias("sources"), F.min("low").alias("low"), F.max("high").alias("high"),
        *(F.min(name).alias(f"least_{name}") for name in figures),
        *(F.max(name).alias(f"most_{name}") for name in figures),
    )  # fmt: skip
    settled = (F.col("low") == F.col("high")) & (F.col("sources") == _sources(events))
    settled = settled & (F.bit_count("most_bits") == F.col("most_rows"))
    for name in figures:
        settled = settled & (F.col(f"least_{name}") == F.col(f"most_{name}"))
    return of_block.filter(~F.coalesce(settled, F.lit(False))).select("block")


def suspected(events: Events, rows: DataFrame) -> DataFrame:
    """Return those of ``rows``, which name a value, that are in suspected blocks; all of them in a small run."""
    return rows if events.small else _by_block(events, rows, "left_semi")


def settled(events: Events, rows: DataFrame) -> DataFrame:
    """Return the other ``rows``: each source has each of them once, at one place; none in a small run."""
    return rows.limit(0) if events.small else _by_block(events, rows, "left_anti")


def suspected_reads(events: Events) -> DataFrame:
    """Return the suspected deliveries, with ``reader``; cached, since all checks of values use them."""
    return reads(events) if events.small else events.frame(_suspected_reads)


def suspected_audit(events: Events) -> DataFrame:
    """Return the suspected records of the tail audit; cached."""
    return events.table("audit") if events.small else events.frame(_suspected_audit)


def suspected_sends(events: Events) -> DataFrame:
    """Return the suspected attempts, as in ``frames.sends``; cached."""
    return sends(events) if events.small else events.frame(_suspected_sends)


def _suspected_reads(events: Events) -> DataFrame:
    return with_reader(_local(events, "reads")) if events.once(unsettled_rows) else suspected(events, reads(events))


def _suspected_audit(events: Events) -> DataFrame:
    return _local(events, "audit") if events.once(unsettled_rows) else suspected(events, events.table("audit"))


def _suspected_sends(events: Events) -> DataFrame:
    if events.case.transactional or not events.once(unsettled_rows):
        return suspected(events, sends(events))
    return attempts(events, _local(events, "sends"))


def _local(events: Events, table: str) -> DataFrame:
    """Return the few rows of a table that are of no settled value."""
    rows = (events.once(unsettled_rows) or {})[table]
    frame = events.spark.createDataFrame(rows, spark_schema(TABLES[table]))
    return events.without_offsets(frame) if table == "sends" else frame


def doubtful(events: Events, mine: DataFrame) -> DataFrame:
    """Return sightings (see ``frames.placements``) of values that may share their place with another one.

    ``mine`` are all sightings of suspected values. Added are all audited records near these places, and near offsets
    that the audit has twice: a settled record is in the audit if it is anywhere.
    """
    if events.small:
        return mine
    there = (
        events.table("audit").filter("intact").filter(_EVERYTHING).withColumn("seen", F.lit(True)).select(*mine.columns)
    )
    twice = (
        there.groupBy(_near())
        .agg(F.count("*").alias("rows"), F.bit_or(_bit("offset")).alias("bits"))
        .filter(F.bit_count("bits") != F.col("rows"))
        .select("near")
    )
    spots = F.broadcast(mine.select(_near()).unionByName(twice).distinct())
    return mine.unionByName(there.select("*", _near()).join(spots, on="near", how="left_semi").drop("near"))


def _near() -> Column:
    return F.xxhash64(*PLACE, F.shiftright("offset", _BITS)).alias("near")


def _bit(name: str) -> Column:
    """Return the bit of a number in its block."""
    return F.call_function("shiftleft", F.lit(1).cast("long"), F.col(name).bitwiseAND(63).cast("int"))


def _by_block(events: Events, rows: DataFrame, how: str) -> DataFrame:
    blocks = F.broadcast(events.frame(suspects))
    bits = _BITS if events.once(unsettled_rows) is None else 0
    return rows.withColumn("block", _block(bits)).join(blocks, on="block", how=how).drop("block")


def _block(bits: int) -> Column:
    """Return a number for the block of 2**bits values; rows without a value share one block, never settled."""
    return F.xxhash64("producer", "producer_incarnation", F.shiftright("seq", bits))


def _sent(events: Events) -> DataFrame:
    """Return acknowledgements that name a place, except those in transactions known to be aborted."""
    rows = events.table("sends").filter((F.col("outcome") == "ok") & (F.col("offset") >= 0))
    if events.case.transactional:
        aborted = events.table("transactions").filter(F.col("outcome") == "aborted").select("txn").distinct()
        rows = rows.join(F.broadcast(aborted), on="txn", how="left_anti")
    return _marked(events, rows.withColumnsRenamed(OF_PRODUCER), _SENDS)


def _audited(events: Events) -> DataFrame:
    level = F.when(F.col("isolation") == "read_committed", _COMMITTED).otherwise(_UNCOMMITTED)
    return _marked(events, events.table("audit"), level)


def _read(events: Events) -> DataFrame:
    reader, source = F.coalesce("group", "probe"), F.lit(None).cast("int")
    for number, name in enumerate(_readers(events)):
        source = F.when(reader == name, _READERS + number).otherwise(source)
    return _marked(events, events.table("reads"), source)


def _marked(events: Events, rows: DataFrame, source: Column | int) -> DataFrame:
    topic = F.lit(-1)
    for number, name in enumerate(sorted(events.case.topics)):
        topic = F.when(F.col("topic") == name, number).otherwise(topic)
    return rows.select(
        _block(_BITS).alias("block"), (source if isinstance(source, Column) else F.lit(source)).alias("source"),
        _bit("seq").alias("bit"),
        F.xxhash64(*PLACE, "offset", "seq").alias("mix"), topic.alias("topic"),
    )  # fmt: skip


def _readers(events: Events) -> list[str]:
    return sorted({reader for _, reader in events.case.consumers})


def _sources(events: Events) -> Column:
    """Return the number of sources of a settled block by topic: acknowledgements, two audit levels, its readers."""
    pairs = {(reader, topic) for reader, topics in owed(events.case).items() for topic in topics}
    rows = events.frame(polled).select("reader", "topic").distinct().collect()
    pairs |= {(row["reader"], row["topic"]) for row in rows}
    wanted = F.lit(-1)
    for number, topic in enumerate(sorted(events.case.topics)):
        readers = sum((reader, topic) in pairs for reader in _readers(events))
        wanted = F.when(F.col("low") == number, _READERS + readers).otherwise(wanted)
    return wanted
