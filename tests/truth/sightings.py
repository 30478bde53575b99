"""What both kinds of references look up: who saw which record where, what counts as written, what the audit covers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from analysis.history import Row
from truth.logs import Place, Value
from truth.story import LEVELS, Story, member_of, place_of, value_of

Spot = tuple[str, int, int]
"""Topic, partition, offset."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What the tail audit of a partition proves."""

    start: int
    """The highest log start that anybody saw."""
    end: int
    visible_end: int | None
    """Where the audit at read_committed ended."""
    complete: bool
    trimmed: bool


def spot_of(row: Row) -> Spot:
    """Topic, partition and offset of a row."""
    return row["topic"], row["partition"], row["offset"]


def in_log(story: Story) -> dict[Value, set[Spot]]:
    """By value the places at which readers or the tail audit saw it."""
    found: dict[Value, set[Spot]] = defaultdict(set)
    for table in ("reads", "audit"):
        for row in story.rows[table]:
            if value := value_of(row):
                found[value].add(spot_of(row))
    return found


def attempts(story: Story) -> dict[Value, Row]:
    """By value its row of ``sends``."""
    return {(row["probe"], row["incarnation"], row["seq"]): row for row in story.rows["sends"]}


def acknowledged(row: Row | None) -> bool:
    """Whether an attempt was acknowledged, naming its offset."""
    return row is not None and row["outcome"] == "ok" and row["offset"] is not None and row["offset"] >= 0


def written(story: Story) -> set[Value]:
    """W: acknowledged, and outside of a transaction, or in one that committed or that a careful reader proves."""
    seen, sends = shown_to_careful(story), attempts(story)
    known = {row["txn"] for row in story.rows["transactions"] if row["outcome"] == "committed"}
    known |= {row["txn"] for value, row in sends.items() if value in seen}
    return {v for v, row in sends.items() if row["outcome"] == "ok" and (row["txn"] is None or row["txn"] in known)}


def shown_to_careful(story: Story) -> set[Value | None]:
    """The values that anyone was given at read_committed, the tail audit included."""
    careful = {member_of(row) for row in story.rows["incarnations"] if row["isolation"] == "read_committed"}
    seen = {value_of(row) for row in story.rows["reads"] if member_of(row) in careful}
    return seen | {value_of(row) for row in story.rows["audit"] if row["isolation"] == "read_committed"}


def covers(story: Story) -> dict[Place, Cover]:
    """By audited partition what the audit proves."""
    found: dict[Place, Cover] = {}
    for place in {place_of(row) for row in story.rows["audit_ranges"]}:
        ranges = [row for row in story.rows["audit_ranges"] if place_of(row) == place]
        starts = [r["log_start"] for r in story.rows["offsets"] if place_of(r) == place and r["leader"]]
        known = [start for start in starts if start is not None]
        start = max([*known, *(row["log_start"] for row in ranges)])
        complete = all(row["complete"] for row in ranges) and {row["isolation"] for row in ranges} == set(LEVELS)
        careful = [row["end"] for row in ranges if row["isolation"] == "read_committed"]
        end, trimmed = min(row["end"] for row in ranges), min(known, default=0) < start
        found[place] = Cover(start, end, min(careful, default=None), complete, trimmed)
    return found


def settings(story: Story) -> dict[tuple[str, int], Row]:
    """By process its row of ``incarnations``."""
    return {member_of(row): row for row in story.rows["incarnations"]}
