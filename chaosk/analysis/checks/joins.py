"""Duration of members' joins to their group, in stages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, during, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.verdict import Measure

_STAGES = ("coordinator", "assignment", "offsets", "record")


class Joins(Check):
    """Each assignment of partitions to a group member, with the duration of each stage up to its first record.

    D7, stages as observed by the probe. ``coordinator``: from the subscription (or the loss of the previous partitions)
    until the group's coordinator was found and connected; 0 if it still was. ``assignment``: join and sync together,
    since librdkafka documents no way to separate them. ``offsets``: until the committed offsets were known. ``record``:
    until the first record, which takes long if a partition has no new records. A stage with unknown end is empty, and
    its time is part of the next known stage.

    Columns: probe, incarnation, group, rebalance, partitions (number assigned), coordinator, assignment, offsets,
    record and total, in seconds.
    """

    rule = "D7"
    title = "how members joined their groups"
    counted = ("join of a member", "joins of members")
    metrics = ("assignment_time", "join_time")
    tables = ("joins",)
    order = ("began", *MEMBER, "rebalance")

    def glance(self, rows: EventRows) -> bool:
        """Return True if any member joined."""
        return rows.count("joins") > 0

    def violations(self, events: Events) -> DataFrame:
        """Return a row for each join, as information; an objective decides whether one took too long."""
        began = F.coalesce("began", "assigned")
        there = F.when(F.col("coordinator").isNotNull(), F.least(F.greatest("coordinator", began), F.col("assigned")))
        marks = {
            "coordinator": (there, began),
            "assignment": (F.col("assigned"), F.coalesce(there, began)),
            "offsets": (F.col("fetched"), F.col("assigned")),
            "record": (F.col("first"), F.coalesce("fetched", "assigned")),
            "total": (F.col("first"), began),
        }
        seconds = {name: (until - since) / F.lit(1e9) for name, (until, since) in marks.items()}
        last = F.coalesce("first", "fetched", "assigned")
        return (
            events.table("joins")
            .withColumns({"since": began, "until": last})
            .withColumns(seconds)
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumns(during("since", "until"))
            .select(*MEANING, *MEMBER, "group", "rebalance", "partitions", *_STAGES, "total")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``assignment_time`` and ``join_time`` (the longest) of each group and window."""
        joins = found.rows("group", "began", "ended", "coordinator", "assignment", "total")
        return (
            measure
            for group in events.case.groups
            for window in events.case.windows
            for measure in _figures(window, group, [row for row in joins if row["group"] == group])
        )


def _figures(window: TimeSpan, group: str, joins: Iterable[dict[str, Any]]) -> Iterable[Measure]:
    mine = [j for j in joins if window.name == "run" or (j["began"] <= window.ended and window.began <= j["ended"])]
    if not mine:
        return
    waited = max((row["coordinator"] or 0.0) + row["assignment"] for row in mine)
    yield measured("assignment_time", group, window.name, waited)
    whole = [row["total"] for row in mine if row["total"] is not None]
    if whole:
        yield measured("join_time", group, window.name, max(whole))
