"""Records that no process of this run can have written."""

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
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.glances.transacted import index_of

_WHO = ("producer", "producer_incarnation")


class UnknownValue(Check):
    """The log holds a record of this run that was not sent there, or no readable record where one was acknowledged.

    A10. ``kind`` is

    - ``unknown``: the payload is intact and names a process that this run did not start.
    - ``unsent``: it names a process that ended cleanly and did not record this send. (A killed process may have sent a
      record without recording it, which is no finding.)
    - ``misplaced``: it is in another topic or partition than it was sent to, and no retry moves a record there.
      Recreated topics are excluded.
    - ``corrupt``: the payload's checksum or run id is wrong at an offset at which another reader saw an intact record,
      or at which one was acknowledged with ``acks=all``. Allowed if the log was seen to be truncated at or before it:
      another log replaced it.
    - ``foreign``: any other record. Another client or an earlier run wrote it, which is information.

    Columns: kind, topic, partition, offset, the value (empty if unreadable), sightings (their number).
    """

    rule = "A10"
    title = "records that no process of the run can have written"
    counted = ("record that no process can have written", "records that no process can have written")
    tables = ("reads", "audit", "incarnations", "sends")
    by_absence_of = ("incarnations", "sends")
    order = (*PLACE, "offset", *VALUE)

    def glance(self, rows: EventRows) -> bool:
        """Return True if any record is unreadable, of an unknown process, not sent, or not sent there."""
        started, ended = rows.processes("incarnations"), rows.processes("ends")
        order = np.argsort(rows.values("sends"))
        sent, to, into = (each[order] for each in (rows.values("sends"), *rows.columns("sends", "topic", "partition")))
        for table in ("reads", "audit"):
            writers = rows.processes(table, "producer", "producer_incarnation")
            if not rows.column(table, "intact").all() or not np.isin(np.unique(writers), started).all():
                return True
            found = index_of(sent, rows.values(table))
            if (np.isin(writers, ended) & (found == EMPTY)).any():
                return True
            topic, partition = (column[found != EMPTY] for column in rows.columns(table, "topic", "partition"))
            wanted, chosen = (each[found[found != EMPTY]] for each in (to, into))
            if ((topic != wanted) | ((chosen != EMPTY) & (partition != chosen))).any():
                return True
        return False

    def violations(self, events: Events) -> DataFrame:
        """Return positions with records that no process of this run wrote there."""
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
                    (F.col("kind") == "foreign", "information", "another client or an earlier run wrote it"),
                    *excused(events, F.col("offset")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("began", "ended"))
            .select(*MEANING, "kind", *PLACE, "offset", *VALUE, "sightings")
        )


def _not_sent_there(events: Events) -> DataFrame:
    """Return sightings of intact records that their processes did not send, or sent to another partition."""
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
    """Return unreadable positions at which a record of this run is known to be: ``ours`` is true."""
    where = [*PLACE, "offset"]
    acked = with_settings(events, sends(events).filter(F.col("outcome") == "ok")).filter(F.col("acks") == -1)
    known = seen.filter("intact").select(*where).unionByName(acked.select(*where))
    unreadable = strange.filter(~F.col("intact")).select(*where).distinct()
    return known.join(events.near(unreadable), on=where, how="left_semi").distinct().withColumn("ours", F.lit(True))
