"""How long partitions were between two leaders."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE
from chaosk.verdict import Measure


class Election(Check):
    """From the last time the old leader was seen to lead until any broker first named the new one.

    D6, from the watcher's samples, so right to one sampling interval on either side. A new leader epoch with a leader
    ends it, also when it is the old one again. The old leader was seen to lead when it answered as the leader, or,
    where it was never asked, when it was last named.

    Columns: topic, partition, from_leader, to_leader (-1: none), epoch (the new one), seconds.
    """

    rule = "D6"
    title = "changes of leadership"
    counted = ("change of leadership", "changes of leadership")
    tables = ("partitions", "offsets")
    order = ("ended", *PLACE, "epoch")

    def violations(self, events: Events) -> DataFrame:
        """Rows of new leader epochs; they are information, an objective decides whether they took too long."""
        in_order = Window.partitionBy(*PLACE).orderBy("epoch")
        epochs = (
            events.table("partitions")
            .filter(F.col("leader_epoch").isNotNull())
            .groupBy(*PLACE, F.col("leader_epoch").alias("epoch"))
            .agg(F.max_by("leader", "at").alias("leader"), F.min("at").alias("named"), F.max("at").alias("unnamed"))
            .filter(F.col("leader") >= 0)
            .withColumn("from_leader", F.lag("leader").over(in_order))
            .withColumn("named_last", F.lag("unnamed").over(in_order))
            .filter(F.col("from_leader").isNotNull())
        )
        leads = events.table("offsets").filter("leader").select(*PLACE, F.col("asked").alias("from_leader"), "at")
        seen = (
            leads.join(events.near(epochs), on=[*PLACE, "from_leader"], how="inner")
            .filter(F.col("at") < F.col("named"))
            .groupBy(*PLACE, "epoch")
            .agg(F.max("at").alias("led"))
        )
        began = F.least("named", F.coalesce("led", "named_last"))
        return (
            epochs.join(events.near(seen), on=[*PLACE, "epoch"], how="left")
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumns({"began": began, "ended": F.col("named"), "to_leader": F.col("leader")})
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, *PLACE, "from_leader", "to_leader", "epoch", "seconds")
        )

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``election``: the longest of each topic, by the window in which the new leader came; None without any."""
        rows = found.rows("topic", "ended", "seconds")
        for topic in sorted(events.case.topics):
            mine = [row for row in rows if row["topic"] == topic]
            for window in events.case.windows:
                whole = window.name == "run"
                inside = [row["seconds"] for row in mine if whole or window.began <= row["ended"] <= window.ended]
                yield measured("election", topic, window.name, max(inside, default=None))
