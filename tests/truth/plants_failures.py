"""Plants in what applications say of their work: records that failed, and that a group went past."""

from __future__ import annotations

from random import Random

from analysis.history import Row
from truth.planting import unclaimed
from truth.reference_reading import blind, hidden, holdings, owned
from truth.story import Story, member_of, place_of, value_of


def swallowed_at_last(story: Story, draw: Random) -> bool:
    """B3: every attempt of a group at a record failed, and it has committed past it."""
    rows = _chosen(story, draw, past=True)
    for row in rows:
        _fail(story, row, draw.choice(["swallow", "leave", "stop", "seek_back"]))
    if rows:
        row, key = rows[0], owned(rows[0])
        again = [r for r in story.rows["failures"] if r["handling"] == "seek_back" and r["offset"] == row["offset"]]
        unknown = any(owned(r) == key and member_of(r) in story.killed() for r in again)
        unproven = unknown or hidden(blind(story)[key], row["offset"])
        story.expect("swallowed", "unproven" if unproven else "violation", *key, row["offset"])
    return bool(rows)


def near_worked_once(story: Story, draw: Random) -> bool:
    """Of several attempts one did not fail, and that is enough; of a process that lived on, so that it was made."""
    rows = _chosen(story, draw, past=True, least=2)
    worked = next((row for row in rows if member_of(row) not in story.killed()), None)
    for row in rows if worked else []:
        if row is not worked:
            _fail(story, row, "seek_back")
    return worked is not None


def near_not_committed(story: Story, draw: Random) -> bool:
    """Every attempt failed, and the group will be given the record again."""
    rows = _chosen(story, draw, past=False)
    for row in rows:
        _fail(story, row, "leave")
    return bool(rows)


PLANTS = (swallowed_at_last, near_worked_once, near_not_committed)


# --- what they share --------------------------------------------------------------------------------------------------


def _chosen(story: Story, draw: Random, *, past: bool, least: int = 1) -> list[Row]:
    """All deliveries of one record to a group that has, or has not, committed past it; its partition is taken."""
    held = holdings(story)
    deliveries: dict[tuple[object, ...], list[Row]] = {}
    for row in story.rows["reads"]:
        if row["group"] is not None and unclaimed(story, row) and value_of(row) is not None and owned(row) in held:
            deliveries.setdefault((row["group"], value_of(row)), []).append(row)
    fitting = [
        rows
        for rows in deliveries.values()
        if len(rows) >= least and (rows[0]["offset"] < (held[owned(rows[0])].committed or 0)) == past
    ]
    if not fitting:
        return []
    rows = draw.choice(fitting)
    story.free.remove(place_of(rows[0]))
    return rows


def _fail(story: Story, row: Row, handling: str) -> None:
    names = (
        "probe", "incarnation", "group", "n", "topic", "partition", "offset", "producer", "producer_incarnation", "seq",
        "intact",
    )  # fmt: skip
    told = {name: row[name] for name in names}
    story.add("failures", **told, attempt=1, at=row["at"] + 1_000_000, handling=handling)
