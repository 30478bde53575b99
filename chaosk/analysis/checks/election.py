"""Time that partitions spent between two leaders."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import CheckRows, FewRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, informing, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.serving import last_signs, named, terms
from chaosk.analysis.glances.leadership_changes import changes_of_leadership
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.partition_history import SILENCE
from chaosk.rundir.verdict import Measure

_NONE = -1


class Election(Check):
    """Time from the last sign that the old leader served a partition until the first sign that another leader did.

    D6. *Signs* that a leader served: it answered the watcher's ListOffsets request as a leader, or a record in the log
    with its leader epoch was acknowledged or delivered (new leader), or was handed to the producing client (old leader:
    the write came later than that). The brokers' metadata decides nothing: it may name no leader for a while, a dead
    one, or at once a new one that does not answer yet. An epoch under which no leader served is skipped. The time then
    goes on until a leader serves, even if it is the old one again (a new epoch of the same broker). If the old leader
    serves until the new one does, the time is close to zero. This is so in a preferred election, or if the old leader
    was cut off from the controllers but not from its clients; ``two_leaders`` has the time in which both led. The row
    is censored if a new epoch was named and no leader served any more until the end.

    The figure is too short by at most the duration of one request. It is too long by at most one sampling interval at
    either end (0.15 s, more if brokers answer slowly), and by less if records are written. A leader that returns at its
    old epoch was not elected; that time is in the probes' ``unavailability``.

    Columns: topic, partition, from_leader, to_leader (-1: none), epoch (the new one), seconds, censored.
    """

    rule = "D6"
    title = "changes of leadership"
    counted = ("change of leadership", "changes of leadership")
    metrics = ("election",)
    tables = ("partitions", "offsets", "sends", "reads", "audit")
    order = ("ended", *PLACE, "epoch")

    def glance(self, rows: EventRows) -> bool:
        """Return True if any partition had more than one leader epoch."""
        epochs, places = rows.column("partitions", "leader_epoch"), rows.places("partitions")
        known = epochs != EMPTY
        return len(np.unique(np.stack([places, epochs])[:, known], axis=1).T) > len(np.unique(places[known]))

    def plain(self, events: Events) -> FewRows:
        """Return new leader epochs as information; an objective decides whether they took too long."""
        return informing(changes_of_leadership(events.rows))

    def violations(self, events: Events) -> DataFrame:
        """Return the same with Spark."""
        served = events.frame(terms)
        in_order = Window.partitionBy(*PLACE).orderBy("epoch")
        elected = (
            served.withColumns({"from_leader": F.lag("leader").over(in_order), "old": F.lag("epoch").over(in_order)})
            .filter(F.col("old").isNotNull())
            .select(
                *PLACE, "from_leader", F.col("leader").alias("to_leader"), F.col("epoch").alias("new"),
                F.col("old").alias("epoch"), F.col("since").alias("until"), F.lit(False).alias("censored"),
            )
        )  # fmt: skip
        changed = last_signs(events, elected.unionByName(_open(events, served)))
        over = F.col("until") - F.col("last") >= F.when(F.col("censored"), F.lit(SILENCE)).otherwise(F.lit(0))
        return (
            changed.filter(over)
            .drop("epoch")
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumns({"began": F.col("last"), "ended": F.col("until"), "epoch": F.col("new")})
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, *PLACE, "from_leader", "to_leader", "epoch", "seconds", "censored")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``election``: the longest of each topic, in every window that it overlaps; None without any."""
        rows = found.rows("topic", "began", "ended", "seconds", "censored")
        for topic in sorted(events.case.topics):
            mine = [row for row in rows if row["topic"] == topic]
            for window in events.case.windows:
                inside = [row for row in mine if row["began"] <= window.ended and window.began <= row["ended"]]
                longest = max((row["seconds"] for row in inside), default=None)
                open_end = any(row["censored"] for row in inside)
                yield measured("election", topic, window.name, longest, censored=open_end)


def _open(events: Events, served: DataFrame) -> DataFrame:
    """Return partitions with a named epoch later than any that served, and with metadata until the end of the run."""
    ended = events.case.run.ended
    latest = named(events).groupBy(*PLACE).agg(F.max("epoch").alias("new"))
    watched = (
        events.table("partitions").groupBy(*PLACE).agg(F.max("at").alias("at")).filter(F.col("at") >= ended - SILENCE)
    )
    last = served.groupBy(*PLACE).agg(F.max("epoch").alias("epoch"), F.max_by("leader", "epoch").alias("from_leader"))
    return (
        last.join(events.near(latest), on=list(PLACE), how="inner")
        .filter(F.col("new") > F.col("epoch"))
        .join(events.near(watched), on=list(PLACE), how="left_semi")
        .select(
            *PLACE, "from_leader", F.lit(_NONE).alias("to_leader"), "new", "epoch",
            F.lit(ended).cast("long").alias("until"), F.lit(True).alias("censored"),
        )
    )  # fmt: skip
