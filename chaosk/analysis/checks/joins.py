"""How long members took to join their group, in stages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Span
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, during, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.glances.rows import Rows
from chaosk.rundir.verdict import Measure

_STAGES = ("coordinator", "assignment", "offsets", "record")


class Joins(Check):
    """Each time a member of a group was given partitions, and how long each stage of its way to the first record took.

    D7, the stages as its probe saw them: ``coordinator``, from subscribing (or losing the partitions it had) until the
    group's coordinator was found and connected, nothing where it still was; ``assignment``, joining and syncing
    together, as librdkafka documents no means to tell them apart; ``offsets``, until the committed offsets were known;
    ``record``, until the first record, which a partition without new ones may take long to have. A stage that nobody
    knows the end of is empty, and its time is in the next one that is known.

    Columns: probe, incarnation, group, rebalance, partitions (how many it was given), coordinator, assignment, offsets,
    record and total, in seconds.
    """

    rule = "D7"
    title = "how members joined their groups"
    counted = ("join of a member", "joins of members")
    tables = ("joins",)
    order = ("began", *MEMBER, "rebalance")

    def glance(self, rows: Rows) -> bool:
        """Whether anybody joined."""
        return rows.count("joins") > 0

    def violations(self, events: Events) -> DataFrame:
        """A row for each join; information: an objective decides whether one took too long."""
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

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``assignment_time`` and ``join_time`` (the longest) of each group and window."""
        joins = found.rows("group", "began", "ended", "coordinator", "assignment", "total")
        return (
            measure
            for group in events.case.groups
            for window in events.case.windows
            for measure in _figures(window, group, [row for row in joins if row["group"] == group])
        )


def _figures(window: Span, group: str, joins: Iterable[dict[str, Any]]) -> Iterable[Measure]:
    mine = [j for j in joins if window.name == "run" or (j["began"] <= window.ended and window.began <= j["ended"])]
    if not mine:
        return
    waited = max((row["coordinator"] or 0.0) + row["assignment"] for row in mine)
    yield measured("assignment_time", group, window.name, waited)
    whole = [row["total"] for row in mine if row["total"] is not None]
    if whole:
        yield measured("join_time", group, window.name, max(whole))
