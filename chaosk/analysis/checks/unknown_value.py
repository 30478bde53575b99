"""Records that nobody of this run can have written."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.sends import sends, with_settings
from chaosk.analysis.frames.suspects import suspected_audit, suspected_reads, suspected_sends
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.glances.rows import EMPTY, Rows
from chaosk.analysis.glances.transacted import index_of

_WHO = ("producer", "producer_incarnation")


class UnknownValue(Check):
    """The log holds a record of this run that nobody sent there, or no readable record where one was acknowledged.

    A10. ``kind`` is ``unknown`` where the payload is whole and names a process that this run did not start; ``unsent``
    where it names one that ended cleanly and wrote down all that it sent, and this is not among it (that of a killed
    process is one that it did not get to write down, and fine); ``misplaced`` where it stands in another topic or
    partition than it was sent to, into which no retry takes a record (a topic that was made again is left out);
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
        """Whether any record is unreadable, of a process that was not started, or not sent, or not sent there."""
        started, ended = rows.processes("incarnations"), rows.processes("ends")
        order = np.argsort(rows.values("sends"))
        sent, to = rows.values("sends")[order], rows.places("sends")[order]
        for table in ("reads", "audit"):
            writers = rows.processes(table, "producer", "producer_incarnation")
            if not rows.column(table, "intact").all() or not np.isin(np.unique(writers), started).all():
                return True
            found = index_of(sent, rows.values(table))
            if (np.isin(writers, ended) & (found == EMPTY)).any():
                return True
            there = rows.places(table)[found != EMPTY]
            wanted = to[found[found != EMPTY]]
            if ((wanted != EMPTY) & (wanted != there)).any():
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
            .drop("ours")
            .unionByName(_not_sent_there(events))
            .withColumns(
                meaning(
                    (F.col("kind").isin("unknown", "unsent", "misplaced"), "violation", None),
                    (F.col("kind") == "foreign", "information", "somebody else wrote it, or an earlier run did"),
                    *excused(events, F.col("offset")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("began", "ended"))
            .select(*MEANING, "kind", *PLACE, "offset", *VALUE, "sightings")
        )


def _not_sent_there(events: Events) -> DataFrame:
    """Sightings of whole records that their processes did not send, or that they sent to another partition."""
    case = events.case
    ended = F.concat_ws("/", *_WHO).isin([f"{probe}/{number}" for probe, number in sorted(case.ends)])
    whole = [*PLACE, "offset", *VALUE, "intact"]
    seen = (
        suspected_reads(events)
        .select(*whole, "at")
        .unionByName(suspected_audit(events).select(*whole), allowMissingColumns=True)
    )
    names = {"topic": "to", "partition": "into"}
    sent = suspected_sends(events).select(*VALUE, *(F.col(name).alias(to) for name, to in names.items()))
    known = seen.filter("intact").join(sent.withColumn("sent", F.lit(True)), on=list(VALUE), how="left")
    elsewhere = (F.col("topic") != F.col("to")) | (F.col("partition") != F.col("into"))
    elsewhere = elsewhere & ~among(F.col("topic"), case.former.topics)
    kind = F.when(ended & F.col("sent").isNull(), "unsent").when(elsewhere, "misplaced")
    return (
        events.gathered(known.withColumn("kind", kind).filter(F.col("kind").isNotNull()))
        .groupBy("kind", *whole)
        .agg(F.count("*").alias("sightings"), F.min("at").alias("began"), F.max("at").alias("ended"))
    )


def _ours(events: Events, seen: DataFrame, strange: DataFrame) -> DataFrame:
    """The unreadable places at which a record of ours is known to stand: ``ours`` is true."""
    where = [*PLACE, "offset"]
    acked = with_settings(events, sends(events).filter(F.col("outcome") == "ok")).filter(F.col("acks") == -1)
    known = seen.filter("intact").select(*where).unionByName(acked.select(*where))
    unreadable = strange.filter(~F.col("intact")).select(*where).distinct()
    return known.join(events.near(unreadable), on=where, how="left_semi").distinct().withColumn("ours", F.lit(True))
