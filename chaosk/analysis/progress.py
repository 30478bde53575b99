"""What each probe got done in each window: the ground of the guards on progress and on complete logs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import delivered, polled, sent
from chaosk.analysis.windows import ALL


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of rows."""

    rows: Counter[tuple[str, int]]
    """By probe and incarnation, rows of ``sends`` or ``reads``."""
    tries: Counter[tuple[str, str]]
    """By probe and window, sends that were due, or polls."""
    done: Counter[tuple[str, str]]
    """By probe and window, sends that were due and acknowledged, or records delivered."""


def progress(events: Events) -> Progress:
    """Collect the counts: a few small rows per probe and window."""
    done = F.sum(F.when(F.col("outcome") == "ok", F.col("count")).otherwise(0)).alias("done")
    keys = ("probe", "incarnation", "window")
    sends = events.frame(sent).groupBy(*keys).agg(F.sum("count").alias("tries"), done).collect()
    polls = events.frame(polled).groupBy(*keys).agg(F.sum("count").alias("tries")).collect()
    reads = events.frame(delivered).groupBy(*keys).agg(F.sum("count").alias("done")).collect()
    found = Progress(Counter(), Counter(), Counter())
    for row in (*sends, *polls):
        found.tries[row["probe"], row["window"]] += int(row["tries"])
    for row in (*sends, *reads):
        found.done[row["probe"], row["window"]] += int(row["done"])
    for row, column in (*((row, "tries") for row in sends), *((row, "done") for row in reads)):
        if row["window"] == ALL:
            found.rows[row["probe"], row["incarnation"]] += int(row[column])
    return found
