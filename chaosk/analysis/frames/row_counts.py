"""Recount of each process's tally from its rows, with Spark; ``glances.row_counts`` does the same with numpy."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Process
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.gaps import gaps
from chaosk.analysis.reported_counts import POLL, READ, UNANSWERED, FigureKey, Figures, with_totals
from chaosk.rundir.events.fingerprint import WRAP, Fingerprint

_LOW = 0xFFFFFFFF


def recounted(events: Events) -> dict[Process, Figures]:
    """Return the recounted figures of each process with a tally; for a killed one up to its last tally."""
    found: dict[Process, Figures] = {process: {} for process in events.case.tallies}
    for row in figures(events).collect():
        found[row["probe"], row["incarnation"]][FigureKey(row["what"], row["topic"], row["partition"])] = _print(row)
    longest = {(row["probe"], row["incarnation"]): int(row["gap"]) for row in longest_gaps(events).collect()}
    return {process: with_totals(each, longest.get(process, 0)) for process, each in found.items()}


def figures(events: Events) -> DataFrame:
    """Return by member, ``what`` and place: ``count``, ``xor`` of hashes, sums of halves of hashes and times."""
    sends = _reached(events, "sends", F.col("completed").isNull() | (F.col("completed") <= F.col("up_to"))).select(
        *MEMBER, F.when(F.col("completed").isNull(), UNANSWERED).otherwise(F.col("outcome")).alias("what"), *PLACE,
        F.xxhash64("seq", F.coalesce("offset", F.lit(-1).cast("long"))).alias("hash"),
        F.coalesce(F.col("completed") - F.col("scheduled"), F.lit(0).cast("long")).alias("time"),
    )  # fmt: skip
    nothing = F.lit(0).cast("long")
    reads = _reached(events, "reads", F.col("n") < F.col("reads")).select(
        *MEMBER, F.lit(READ.what).alias("what"), *PLACE, F.xxhash64("offset").alias("hash"), nothing.alias("time")
    )
    polls = _reached(events, "polls", F.col("poll") < F.col("polls")).select(
        *MEMBER, F.lit(POLL.what).alias("what"), nothing.alias("hash"), nothing.alias("time")
    )
    rows = sends.unionByName(reads).unionByName(polls, allowMissingColumns=True)
    return (
        events.gathered(rows)
        .groupBy(*MEMBER, "what", *PLACE)
        .agg(
            F.count("*").alias("count"), F.bit_xor("hash").alias("xor"),
            *(_halves(name)[half].alias(f"{name}_{half}") for name in ("hash", "time") for half in (0, 1)),
        )
    )  # fmt: skip


def longest_gaps(events: Events) -> DataFrame:
    """Return by member the longest time between acknowledgements, if it is a second or more: ``gap`` in nanoseconds."""
    acknowledged = _reached(events, "sends", F.col("completed") <= F.col("up_to")).filter(F.col("outcome") == "ok")
    return (
        gaps(acknowledged, MEMBER, "completed")
        .groupBy(*MEMBER)
        .agg(F.max(F.col("closed") - F.col("opened")).alias("gap"))
    )


def _reached(events: Events, table: str, within: Column) -> DataFrame:
    """Return the rows of processes with a tally, up to its reach; added columns: ``up_to``, ``reads``, ``polls``."""
    rows = [(*process, *events.case.reach(process)) for process in sorted(events.case.tallies)]
    schema = "probe string, incarnation int, up_to long, reads long, polls long"
    reach = events.near(events.spark.createDataFrame(rows, schema))
    return events.as_written(table).join(reach, on=list(MEMBER), how="inner").filter(within)


def _halves(name: str) -> tuple[Column, Column]:
    """Return sums of the low and of the high 32 bits: neither overflows, and together they are the sum modulo 2**64."""
    whole = F.col(name)
    return F.sum(whole.bitwiseAND(F.lit(_LOW).cast("long"))), F.sum(F.shiftrightunsigned(whole, 32))


def _print(row: Any) -> Fingerprint:  # noqa: ANN401 - a row of ``figures``
    total, times = ((row[f"{name}_0"] + (row[f"{name}_1"] << 32)) % WRAP for name in ("hash", "time"))
    return Fingerprint(row["count"], row["xor"] % WRAP, total, times)
