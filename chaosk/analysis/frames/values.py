"""All values, one row each: sent, read or found by the tail audit."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.events import Events
from chaosk.analysis.frames import VALUE
from chaosk.analysis.frames.deliveries import reads
from chaosk.analysis.frames.packed import offset_of, packed, partition_of, topic_of
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.frames.suspects import suspected_audit, suspected_reads, suspected_sends

_OUTCOMES = ("ok", "fail", "info")


def values(events: Events) -> DataFrame:
    """Return one row per value: data from its producer, sightings in the log, and its readers.

    In a run that is not small, only values that are not settled (``frames.suspects``): the others were acknowledged,
    found by the audit at that place, and given to every reader of their topic once.

    From its send: ``scheduled``, ``invoked``, ``completed``, ``outcome`` (None if a killed probe left no row),
    ``written``, ``plain`` (in no transaction), ``acked`` (the acknowledged place). From the log: ``first`` and ``last``
    (lowest and highest place of a sighting, None if never), ``stored`` and ``visible`` (the audit found it at
    read_uncommitted, and at read_committed), ``audited`` (at either), ``read``, ``read_place`` (the highest place of a
    delivery), ``read_at`` (time of the first delivery). Places are packed (``frames.packed``).

    ``topic``, ``partition`` and ``offset``: its place, preferably from the log. ``at_<n>`` and ``times_<n>``: time of
    the first delivery to consumer ``n`` (by name), and number of deliveries; use ``given_to`` and ``times_given`` for
    them.
    """
    return _values(events, suspected_sends(events), suspected_reads(events), suspected_audit(events))


def values_of(events: Events, rows: DataFrame) -> DataFrame:
    """Return the rows of the values that some few ``rows`` name, settled or not; of a small run all of them."""
    if events.small:
        return events.frame(values)
    named = F.broadcast(rows.select(*VALUE).distinct())
    tables = (sends(events), reads(events), events.table("audit"))
    return _values(events, *(each.join(named, on=list(VALUE), how="left_semi") for each in tables))


def _values(events: Events, sent: DataFrame, given: DataFrame, found: DataFrame) -> DataFrame:
    merged = _sent(events.case, sent).unionByName(_seen(events.case, given, found), allowMissingColumns=True)
    read = F.col("consumer").isNotNull()
    consumers = events.case.consumers
    per_value = events.gathered(merged).groupBy(*VALUE).agg(
        F.max("scheduled").alias("scheduled"), F.max("invoked").alias("invoked"), F.max("completed").alias("completed"),
        F.max("verdict").alias("verdict"), F.max("written").alias("written"), F.max("plain").alias("plain"),
        F.max("acked").alias("acked"),
        F.max("tried").alias("tried"), F.min("place").alias("first"), F.max("place").alias("last"),
        F.max(F.when(read, F.col("place"))).alias("read_place"), F.min("at").alias("read_at"),
        F.max("stored").alias("stored"), F.max("visible").alias("visible"), *_per_consumer(consumers),
    )  # fmt: skip
    place = F.coalesce("first", "acked", "tried")
    flags = {name: F.coalesce(name, F.lit(False)) for name in ("written", "plain", "stored", "visible")}
    return per_value.withColumns(flags).select(
        *VALUE, topic_of(events.case, place).alias("topic"), partition_of(place).alias("partition"),
        offset_of(place).alias("offset"), "scheduled", "invoked", "completed", _outcome().alias("outcome"), "written",
        "plain", "acked", "first", "last", "stored", "visible",
        (F.col("stored") | F.col("visible")).alias("audited"), F.col("read_at").isNotNull().alias("read"),
        "read_place", "read_at",
        *(f"{name}_{number}" for number in range(len(consumers)) for name in ("at", "times")),
    )  # fmt: skip


def given_to(case: Case, reader: Column) -> Column:
    """Return a condition: the value (of ``values``) was given to a reader."""
    given = F.lit(False)
    for number, (_, name) in enumerate(case.consumers):
        given = given | (F.col(f"at_{number}").isNotNull() & (reader == name))
    return given


def times_given(case: Case, reader: str) -> Column:
    """Return the number of deliveries of a value (of ``values``) to a reader."""
    mine = [F.col(f"times_{number}") for number, (_, name) in enumerate(case.consumers) if name == reader]
    return sum(mine, F.lit(0).cast("long"))


def _sent(case: Case, rows: DataFrame) -> DataFrame:
    acked = F.when((F.col("outcome") == "ok") & F.col("offset").isNotNull(), packed(case, F.col("offset")))
    verdict = F.lit(None).cast("int")
    for code, outcome in enumerate(_OUTCOMES):
        verdict = F.when(F.col("outcome") == outcome, F.lit(code)).otherwise(verdict)
    tried = packed(case, F.lit(None).cast("long"))
    return rows.select(
        *VALUE, "scheduled", "invoked", "completed", verdict.alias("verdict"), "written", "plain", acked.alias("acked"),
        tried.alias("tried"),
    )  # fmt: skip


def _seen(case: Case, given: DataFrame, found: DataFrame) -> DataFrame:
    """Return sightings in the log. Records whose payload is not of this run have no value, and are excluded."""
    place = packed(case, F.col("offset")).alias("place")
    read, audited = given.filter("intact"), found.filter("intact")
    careful = F.col("isolation") == "read_committed"
    return read.select(*VALUE, place, "at", F.col("probe").alias("consumer")).unionByName(
        audited.select(*VALUE, place, (~careful).alias("stored"), careful.alias("visible")), allowMissingColumns=True
    )


def _per_consumer(consumers: Sequence[tuple[str, str]]) -> list[Column]:
    """Return first delivery and number of deliveries by consumer: plain longs, which aggregate without sorting."""
    columns = []
    for number, (probe, _) in enumerate(consumers):
        mine = F.col("consumer") == probe
        columns.append(F.min(F.when(mine, F.col("at"))).alias(f"at_{number}"))
        columns.append(F.count_if(mine).alias(f"times_{number}"))
    return columns


def _outcome() -> Column:
    names = F.array(*(F.lit(outcome) for outcome in _OUTCOMES))
    return F.when(F.col("verdict").isNotNull(), F.element_at(names, F.col("verdict") + 1))
