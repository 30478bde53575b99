"""A last stable offset that does not move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import MEANING, Check, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.glances.before import coded
from chaosk.analysis.glances.rows import EMPTY, Rows
from chaosk.verdict import Fault

SLACK = 30_000_000_000
"""Nanoseconds beyond a transaction's timeout that its coordinator has to abort it."""
_USUAL = 60_000
"""Milliseconds of ``transaction.timeout.ms`` where nothing is set."""


class StuckLso(Check):
    """The high watermark of a partition grows while its last stable offset stays, for longer than any transaction may.

    B10, from the watcher's samples of leaders. A transaction that is neither committed nor aborted holds the last
    stable offset where it began, and readers at read_committed get nothing beyond. Its coordinator aborts it after
    ``transaction.timeout.ms`` (the longest of the scenario's transactional producers, 60 s where none is set); what
    lasts 30 s longer hangs. Time before the last fault that overlaps it was over does not count: the coordinator may
    have been away. Where readers or the audit saw records in the partition that are not of this run, a transaction of
    somebody else's may be longer: unproven.

    Columns: topic, partition, last_stable, high_watermark (the highest meanwhile), seconds (all of it), producer_id
    (whose transaction it was, where the leaders' own files were searched for transactions), marker (offset of what
    ended that in the end; empty if nothing is known to have).
    """

    rule = "B10"
    title = "last stable offsets that are stuck"
    counted = ("stuck last stable offset", "stuck last stable offsets")
    tables = ("offsets", "stretches", "reads", "audit")
    order = (*PLACE, "last_stable")

    def glance(self, rows: Rows) -> bool:
        """Whether a last stable offset stays below the high watermark for so long."""
        stable, high, at = rows.columns("offsets", "last_stable", "high_watermark", "at")
        held = (rows.column("offsets", "leader") == 1) & (stable != EMPTY) & (stable < high)
        if not held.any():
            return False
        keys = coded(rows.column("offsets", "topic")[held], rows.column("offsets", "partition")[held], stable[held])
        names, codes = np.unique(keys, return_inverse=True)
        began, ended = np.full(len(names), np.iinfo(np.int64).max), np.full(len(names), EMPTY)
        np.minimum.at(began, codes, at[held])
        np.maximum.at(ended, codes, at[held])
        return bool((ended - began > _patience(rows.case)).any())

    def violations(self, events: Events) -> DataFrame:
        """Rows of last stable offsets that stayed for too long."""
        case = events.case
        held = F.col("leader") & (F.col("last_stable") < F.col("high_watermark"))
        stays = (
            events.table("offsets")
            .filter(held)
            .groupBy(*PLACE, "last_stable")
            .agg(
                F.min("at").alias("began"), F.max("at").alias("ended"), F.min("high_watermark").alias("lowest"),
                F.max("high_watermark").alias("high_watermark"),
            )
            .filter(F.col("high_watermark") > F.col("lowest"))
        )  # fmt: skip
        overs = ((fault.invoked, _over(case, fault)) for fault in case.faults)
        later = (
            F.when((F.col("ended") >= began) & (F.col("began") <= over), F.lit(over).cast("long"))
            for began, over in overs
        )
        since = F.greatest("began", F.lit(None).cast("long"), *later)  # one beside the other: nested, each doubles them
        return (
            stays.filter(F.col("ended") - since > _patience(case))
            .join(events.near(_foreign(events)), on=list(PLACE), how="left")
            .withColumns(
                meaning(
                    (
                        F.col("foreign"),
                        "unproven",
                        "records of others were seen: a transaction of theirs may have a longer timeout",
                    ),
                    otherwise=("violation", None),
                )
            )
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .join(events.near(_begun(events)), on=[*PLACE, "last_stable"], how="left")
            .select(*MEANING, *PLACE, "last_stable", "high_watermark", "seconds", "producer_id", "marker")
        )


def _begun(events: Events) -> DataFrame:
    """What stands where a last stable offset may be held: at the first offset of a transaction."""
    return events.table("stretches").select(*PLACE, F.col("first").alias("last_stable"), "producer_id", "marker")


def _foreign(events: Events) -> DataFrame:
    """Partitions in which anyone saw a record that is not of this run; ``foreign`` is true."""
    others = [events.table(table).filter(~F.col("intact")).select(*PLACE) for table in ("reads", "audit")]
    return others[0].unionByName(others[1]).distinct().withColumn("foreign", F.lit(True))


def _over(case: Case, fault: Fault) -> int:
    """When a fault was over; one that leaves nothing is over at once."""
    if fault.healed is not None:
        return fault.healed
    return (fault.applied or fault.invoked) if fault.undone else case.record.ended


def _patience(case: Case) -> int:
    """Nanoseconds that the longest transaction of the scenario's producers may take, and the slack."""
    timeouts = [
        int(settings.get("transaction.timeout.ms", _USUAL))
        for probe in case.plan.probes.values()
        for settings in _transactional(probe)
    ]
    return max(timeouts, default=_USUAL) * 1_000_000 + SLACK


def _transactional(probe: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings of a probe's producer, if that writes in transactions."""
    produce, transform = probe.get("produce") or {}, probe.get("transform")
    if produce.get("transaction"):
        yield produce.get("config") or {}
    if transform is not None:
        yield transform.get("producer_config") or {}
