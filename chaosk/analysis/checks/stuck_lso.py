"""Last stable offsets that do not advance."""

from __future__ import annotations

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import MEANING, Check, meaning
from chaosk.analysis.coordinator_outages import coordinator_outages
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.truncations import truncations
from chaosk.analysis.frames.unmarked import PERHAPS, UNMARKED, unmarked
from chaosk.analysis.glances.before import coded
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.intervals import Interval
from chaosk.spec.transaction_timeout import SLACK, longest, timeouts


class StuckLso(Check):
    """The high watermark of a partition is above its last stable offset for longer than any transaction may take.

    B10, from the watcher's samples of leaders. An open transaction holds the last stable offset at its start, and
    readers at read_committed get nothing beyond. Its coordinator aborts it after ``transaction.timeout.ms``. A
    transaction that lasts 30 s longer hangs, or its marker is lost (KAFKA-20716), which its client may never learn.
    Time counts from the first sample in which the transaction holds the offset, also during faults, and also without
    writes to the partition. It begins anew after faults that kept so many brokers away that no coordinator could write
    the abort (see ``coordinator_outages``). A stretch that is too long only with their time is unproven if the offset
    is held in the last sample, and in order otherwise. The timeout is that of the probe that sent the record at that
    offset. If that probe is unknown, it is the longest of the scenario's transactional producers, or 60 s if none is
    set. Answers of deposed leaders that do not know it are excluded. If readers or the audit saw records of other
    clients in the partition, and the record at that offset is no probe's, another client's transaction may have a
    longer timeout: unproven. Allowed if the log was seen to be truncated behind that record after its transaction had
    ended, so that the marker is lost: the coordinator does not write it again.

    Columns: topic, partition, last_stable, high_watermark (the highest in this time), seconds (the whole stretch),
    held_by (the transaction whose record is there, as its probe named it), outcome (as reported to its client),
    producer_id (of the transaction, if the leaders' log files were searched for transactions), marker (offset of its
    end marker; empty if none is known).
    """

    rule = "B10"
    title = "last stable offsets that are stuck"
    counted = (
        "stuck last stable offset, behind which readers at read_committed get nothing",
        "stuck last stable offsets, behind which readers at read_committed get nothing",
    )
    tables = ("offsets", "partitions", "brokers", "stretches", "sends", "transactions", "reads", "audit")
    by_absence_of = ("offsets", "transactions")
    order = (*PLACE, "last_stable")

    def glance(self, rows: EventRows) -> bool:
        """Return True if a last stable offset stays below the high watermark for that long."""
        stable, high, at = rows.columns("offsets", "last_stable", "high_watermark", "at")
        held = (rows.column("offsets", "leader") == 1) & (stable != EMPTY) & (stable < high)
        if not held.any():
            return False
        keys = coded(rows.column("offsets", "topic")[held], rows.column("offsets", "partition")[held], stable[held])
        names, codes = np.unique(keys, return_inverse=True)
        began, ended = np.full(len(names), np.iinfo(np.int64).max), np.full(len(names), EMPTY)
        np.minimum.at(began, codes, at[held])
        np.maximum.at(ended, codes, at[held])
        shortest = min([longest(rows.case.plan.probes), *timeouts(rows.case.plan.probes).values()])
        return bool((ended - began > _patience(shortest)).any())

    def violations(self, events: Events) -> DataFrame:
        """Return last stable offsets that stayed for too long."""
        case = events.case
        held = F.col("leader") & (F.col("last_stable") < F.col("high_watermark"))
        stays = (
            _of_leaders(events)
            .filter(held)
            .groupBy(*PLACE, "last_stable")
            .agg(
                F.min("at").alias("began"), F.max("at").alias("ended"),
                F.max("high_watermark").alias("high_watermark"),
            )
        )  # fmt: skip
        others = "records of others were seen: a transaction of theirs may have a longer timeout"
        away = "faults kept so many brokers away that no coordinator could abort the transaction"
        held_too_long = F.col("ended") - F.col("began") > _patience_of(case)
        holders = events.near(_holders(events, stays))
        long = stays.join(holders, on=[*PLACE, "last_stable"], how="left").filter(held_too_long)
        return (
            _with_outages(events, long)
            .join(events.near(_foreign(events)), on=list(PLACE), how="left")
            .join(events.near(_unmarked(events)), on=[*PLACE, "last_stable"], how="left")
            .withColumns(
                meaning(
                    (F.col("unmarked") == UNMARKED, "allowed", UNMARKED),
                    (F.col("unmarked") == PERHAPS, "unproven", PERHAPS),
                    (F.col("foreign") & F.col("held_by").isNull(), "unproven", others),
                    (F.col("excused"), "unproven", away),
                    otherwise=("violation", None),
                )
            )
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .join(events.near(_begun(events)), on=[*PLACE, "last_stable"], how="left")
            .select(
                *MEANING, *PLACE, "last_stable", "high_watermark", "seconds", "held_by", "outcome", "producer_id",
                "marker",
            )
        )  # fmt: skip


def _of_leaders(events: Events) -> DataFrame:
    """Return samples of offsets, except those of a broker after another one had been named as a later leader."""
    named = (
        events.table("partitions")
        .filter((F.col("leader") >= 0) & F.col("leader_epoch").isNotNull())
        .select(*PLACE, "at", F.struct("leader_epoch", "leader").alias("named"))
    )
    answers = events.table("offsets").select(*PLACE, "at", "asked", "leader", "last_stable", "high_watermark")
    until = Window.partitionBy(*PLACE).orderBy("at", F.col("named").isNull())
    return (
        events.gathered(answers.unionByName(named, allowMissingColumns=True))
        .withColumn("newest", F.max("named").over(until))
        .filter(F.col("named").isNull())
        .filter(F.col("newest").isNull() | (F.col("newest.leader") == F.col("asked")))
    )


def _holders(events: Events, stays: DataFrame) -> DataFrame:
    """Return the probe whose record is at each ``last_stable``, its transaction, and the outcome its client knows.

    If a truncated log reused the offset, the record that was sent last counts.
    """
    spots = stays.select(*PLACE, "last_stable", "ended")
    sent = events.table("sends").filter(F.col("txn").isNotNull() & (F.col("offset") >= 0))
    ends = events.table("transactions").select(F.col("txn").alias("held_by"), "outcome")
    last = F.max_by(F.struct("probe", "txn"), F.struct("invoked", "seq"))
    return (
        sent.select(*PLACE, F.col("offset").alias("last_stable"), "probe", "txn", "invoked", "seq")
        .join(events.near(spots), on=[*PLACE, "last_stable"], how="inner")
        .filter(F.col("invoked") <= F.col("ended"))
        .groupBy(*PLACE, "last_stable")
        .agg(last.alias("last"))
        .select(*PLACE, "last_stable", F.col("last.probe").alias("holder"), F.col("last.txn").alias("held_by"))
        .join(events.near(ends), on="held_by", how="left")
        .select(*PLACE, "last_stable", "holder", "held_by", "outcome")
    )


def _begun(events: Events) -> DataFrame:
    """Return transactions from the log files by their first offset, which is where a last stable offset may be held."""
    return events.table("stretches").select(*PLACE, F.col("first").alias("last_stable"), "producer_id", "marker")


def _foreign(events: Events) -> DataFrame:
    """Return partitions in which a record of another origin than this run was seen; ``foreign`` is true."""
    others = [events.table(table).filter(~F.col("intact")).select(*PLACE) for table in ("reads", "audit")]
    return others[0].unionByName(others[1]).distinct().withColumn("foreign", F.lit(True))


def _unmarked(events: Events) -> DataFrame:
    """Return the offsets of records whose transaction's marker may have been cut off, see ``frames.unmarked``."""
    if not events.case.transactional or not events.once(truncations):
        return events.local([], "topic string, partition int, last_stable long, unmarked string")
    return events.frame(unmarked).select(*PLACE, F.col("offset").alias("last_stable"), "unmarked").distinct()


def _with_outages(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``excused``: the offset was held so long because no coordinator could write.

    Rows that are excused, and whose offset was not held in the last sample, are left out.
    """
    outages = coordinator_outages(events.case)
    if not outages:
        return rows.withColumn("excused", F.lit(False))
    last = _of_leaders(events).groupBy(*PLACE).agg(F.max("at").alias("last"))
    return (
        rows.join(events.near(last), on=list(PLACE), how="left")
        .withColumn("excused", _undisturbed(outages) <= _patience_of(events.case))
        .filter(~F.col("excused") | (F.col("ended") == F.col("last")))
        .drop("last")
    )


def _undisturbed(outages: list[Interval]) -> Column:
    """Return the longest time between ``began`` and ``ended`` without an outage, in nanoseconds."""
    began, ended = F.col("began"), F.col("ended")
    opens = [began, *(F.greatest(began, F.lit(until)) for _, until in outages)]
    closes = [*(F.least(ended, F.lit(since)) for since, _ in outages), ended]
    gaps = [close - open_ for open_, close in zip(opens, closes, strict=True)]
    return F.greatest(*gaps)


def _patience_of(case: Case) -> Column:
    """Return the timeout of the transactions of probe ``holder``, plus slack, in nanoseconds."""
    found = F.lit(_patience(longest(case.plan.probes)))
    for probe, seconds in sorted(timeouts(case.plan.probes).items()):
        found = F.when(F.col("holder") == probe, F.lit(_patience(seconds))).otherwise(found)
    return found


def _patience(seconds: float) -> int:
    return round((seconds + SLACK) * 1e9)
