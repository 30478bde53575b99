"""Havoc: rows of a story gone, doubled, moved or changed at random, with no known truth: only two opinions of it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from analysis.history import Row, ns
from truth.story import INTO, Story, random


def havoc(story: Story) -> Story:
    """Change the story's rows as its seed has it: a few changes, or very many."""
    draw = random("havoc", story.seed)
    story.known = False
    for _ in range(draw.choice([1, 2, 4, 8, 30])):
        table, change = draw.choice(CHANGES)
        if rows := story.rows[table]:
            change(story, rows.pop(draw.randrange(len(rows))), draw)
    return story


def _gone(story: Story, row: Row, draw: Random) -> None:
    """The row is gone."""


def _reread(story: Story, row: Row, draw: Random) -> None:
    """A delivery twice, the second some time later."""
    story.rows["reads"].append(row)
    mine = [r for r in story.rows["reads"] if (r["probe"], r["incarnation"]) == (row["probe"], row["incarnation"])]
    again = draw.choice(mine)
    latest = max(r["n"] for r in mine) + 1
    story.rows["reads"].append(row | {"n": latest, "poll": again["poll"], "at": again["at"] + 1})


def _elsewhere(story: Story, row: Row, draw: Random) -> None:
    """A record or a delivery at another offset."""
    table = "audit" if "isolation" in row else "reads" if "poll" in row else "sends"
    offset = row["offset"] if row["offset"] is not None else 5
    story.rows[table].append(row | {"offset": max(0, offset + draw.choice([-3, -1, 1, 2, 40]))})


def _foreign(story: Story, row: Row, draw: Random) -> None:
    """A record of somebody else."""
    table = "audit" if "isolation" in row else "reads"
    story.rows[table].append(row | {"intact": False, "producer": None, "producer_incarnation": None, "seq": None})


def _outcome(story: Story, row: Row, draw: Random) -> None:
    """Another outcome, with the offset or without."""
    if "seq" in row:
        kept = row["offset"] if draw.random() < 0.5 else None
        story.rows["sends"].append(row | {"outcome": draw.choice(["info", "fail", "ok"]), "offset": kept})
    elif "assignment" in row:
        story.rows["commits"].append(row | {"outcome": draw.choice(["info", "fail", "ok"])})
    else:
        story.rows["transactions"].append(row | {"outcome": draw.choice(["info", "aborted", "committed"])})


def _offset(story: Story, row: Row, draw: Random) -> None:
    """Another committed offset: asked for, found, or told after the run."""
    table = "commits" if "outcome" in row else "fetched" if "invoked" in row else "groups"
    offset = max(0, (row["offset"] or 0) + draw.choice([-5, -1, 1, 5, 100]))
    story.rows[table].append(row | {"offset": offset})


def _sought(story: Story, row: Row, draw: Random) -> None:
    """A seek where a delivery was, which is kept."""
    story.rows["reads"].append(row)
    names = ("probe", "incarnation", "topic", "partition", "offset")
    at = row["at"] + draw.choice([-1, 0, 1]) * draw.choice([0, 1, ns(1) - ns(0)])
    story.add("seeks", **{name: row[name] for name in names}, at=at, kind="seek")


def _range(story: Story, row: Row, draw: Random) -> None:
    """An audit that covers less, or starts later."""
    if row["topic"] == INTO:  # it is whole in all stories of a run or in none
        story.rows["audit_ranges"].append(row)
        return
    change: Row = draw.choice([{"complete": False}, {"end": row["end"] // 2}, {"log_start": row["log_start"] + 3}])
    story.rows["audit_ranges"].append(row | change)


def _retimed(story: Story, row: Row, draw: Random) -> None:
    """A transaction whose end was asked for earlier or later, or whose client was there earlier or later."""
    name = draw.choice(["ending", "initialized"])
    story.rows["transactions"].append(row | {name: row[name] + round(draw.uniform(-4, 4) * 1e9)})


def _revealed(story: Story, row: Row, draw: Random) -> None:
    """A record that only careless readers may see is shown to careful ones; or the other way round."""
    level = "read_uncommitted" if row["isolation"] == "read_committed" else "read_committed"
    turned = row | {"isolation": level}
    story.rows["audit"].append(row if turned in story.rows["audit"] else turned)  # an audit finds nothing twice


def _made_of(story: Story, row: Row, draw: Random) -> None:
    """An output of another input."""
    story.rows["outputs"].append(row | {"offset": max(0, row["offset"] + draw.choice([-2, -1, 1, 2]))})


def _moved(story: Story, row: Row, draw: Random) -> None:
    """A partition given, taken or lost at another time."""
    at, kind = row["at"] + round(draw.uniform(-4, 4) * 1e9), row["kind"]
    kind = draw.choice(["revoke", "lost"]) if kind != "assign" else kind
    story.rows["assignments"].append(row | {"at": at, "kind": kind})


def _end(story: Story, row: Row, draw: Random) -> None:
    """A leader that tells of another end of its log."""
    name = draw.choice(["log_end", "high_watermark"])
    story.rows["offsets"].append(row | {name: max(0, (row[name] or 0) + draw.choice([-20, -3, -1]))})


def _epoch(story: Story, row: Row, draw: Random) -> None:
    """A record of another leader."""
    story.rows["audit"].append(row | {"leader_epoch": draw.choice([None, 2, 4, 9])})


CHANGES: list[tuple[str, Callable[[Story, Row, Random], None]]] = [
    ("reads", _gone), ("reads", _gone), ("audit", _gone), ("sends", _gone), ("commits", _gone), ("fetched", _gone),
    ("groups", _gone), ("seeks", _gone), ("ends", _gone), ("assignments", _gone), ("transactions", _gone),
    ("offsets", _gone), ("reads", _reread), ("reads", _elsewhere), ("audit", _elsewhere), ("sends", _elsewhere),
    ("reads", _foreign), ("audit", _foreign), ("sends", _outcome), ("commits", _outcome), ("transactions", _outcome),
    ("commits", _offset), ("fetched", _offset), ("groups", _offset), ("reads", _sought), ("audit_ranges", _range),
    ("transactions", _retimed), ("transactions", _retimed), ("audit", _revealed), ("audit", _revealed),
    ("outputs", _made_of), ("assignments", _moved), ("assignments", _moved), ("offsets", _end), ("audit", _epoch),
]  # fmt: skip
