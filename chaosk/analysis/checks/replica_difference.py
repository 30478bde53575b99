"""Replicas that differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, PlaceKey
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, during, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.verdict import Measure


class Piece(NamedTuple):
    """Result of the comparison for a range of offsets of a partition, both ends included."""

    first: int
    last: int
    same: bool | None
    """None if not every replica answered."""


class ReplicaDifference(Check):
    """Offsets of a partition at which its replicas hold different batches, or at which some replicas hold none.

    D10, from the brokers' log files, after the run, when every replica is in sync again. All data below the high
    watermark is then byte-identical on all replicas, or a replica has diverged. Batches are compared by their first and
    last offset, leader epoch and checksum. The comparison takes time, so it is done only if the scenario bounds
    ``differing_replicas``. Compacted topics are excluded, because each replica compacts at its own time.

    Columns: topic, partition, first and last (offset), held (by broker the batch that it holds at the first of them).
    """

    rule = "D10"
    title = "replicas that do not hold the same"
    counted = ("stretch in which replicas differ", "stretches in which replicas differ")
    metrics = ("differing_replicas",)
    tables = ("copies", "audit_ranges")
    order = (*PLACE, "first")

    def glance(self, rows: EventRows) -> bool:
        """Return True if any replica was found to differ."""
        return bool((rows.column("copies", "same") == 0).any())

    def violations(self, events: Events) -> DataFrame:
        """Return stretches that differ, as information; an objective decides whether there may be any."""
        return (
            events.table("copies")
            .filter(~F.col("same"))
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumns(during(None, None))
            .select(*MEANING, *PLACE, "first", "last", "held")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - it counts partitions
        """Yield ``differing_replicas`` of each topic, if it is bounded; censored if some partitions are unknown."""
        case = events.case
        if not case.plan.expect.compares_replicas:
            return
        pieces = _pieces(events.rows)
        for topic, shape in sorted(case.topics.items()):
            told = [_same(case, (topic, n), pieces.get((topic, n), [])) for n in range(shape.partitions)]
            known = any(same is not None for same in told)
            differing = float(sum(same is False for same in told)) if known else None
            yield measured("differing_replicas", topic, case.run.name, differing, censored=known and None in told)


def _pieces(rows: EventRows) -> dict[PlaceKey, list[Piece]]:
    found: dict[PlaceKey, list[Piece]] = {}
    columns = rows.columns("copies", "topic", "partition", "first", "last", "same")
    for topic, partition, first, last, same in zip(*(column.tolist() for column in columns), strict=True):
        piece = Piece(first, last, None if same < 0 else bool(same))
        found.setdefault((rows.word("topic", topic) or "", partition), []).append(piece)
    return found


def _same(case: Case, place: PlaceKey, pieces: Sequence[Piece]) -> bool | None:
    """Return True if the replicas of a partition are identical over the audited range; None if unknown."""
    if any(piece.same is False for piece in pieces):
        return False
    read = [row for row in case.ranges if (row["topic"], row["partition"], row["isolation"]) == (*place, _ALL)]
    if not read or not read[0]["complete"]:
        return None
    reached: int = read[0]["log_start"]
    for piece in sorted(piece for piece in pieces if piece.same):
        if piece.first <= reached:
            reached = max(reached, piece.last + 1)
    return True if reached >= read[0]["end"] else None


_ALL = "read_uncommitted"
