"""Plants in what leaders' own files say of transactions: markers that are not there, records behind theirs."""

from __future__ import annotations

from random import Random

from analysis.history import Row
from truth.logs import Value
from truth.planting import append
from truth.reference_txn import late_write
from truth.sightings import attempts
from truth.story import Story, member_of, named, place_of, value_of


def marker_forgotten(story: Story, draw: Random) -> bool:
    """C2: a log has lost the marker of a transaction, and the next one of that producer ended both."""
    pairs = []
    for place in story.free:
        stretches = sorted(story.all("stretches", **named(place)), key=lambda row: int(row["first"]))
        for row in stretches:
            mine = [s for s in stretches if s["producer_id"] == row["producer_id"] and s["first"] > row["marker"]]
            if mine and _shown(story, row) and _known(story, mine[0]):
                pairs.append((row, mine[0]["marker"]))
    if not pairs:
        return False
    stretch, marker = draw.choice(pairs)
    place, lost = place_of(stretch), stretch["marker"]
    story.free.remove(place)
    story.drop("markers", lambda row: place_of(row) == place and row["offset"] == lost)
    for row in story.all("stretches", **named(place), marker=lost):
        row["marker"] = marker
    for row in story.all("stretches", **named(place), marker=marker):
        if row["first"] < lost:
            for value, offset in _shown(story, row):
                story.expect("late_write", _severity(story, value, offset), "foreign", *value, *place, offset)
    return True


def written_late(story: Story, draw: Random) -> bool:
    """C2: a record of a transaction came when that was over, and the next marker made it visible."""
    return _write_late(story, draw) is not None


def near_written_late_unseen(story: Story, draw: Random) -> bool:
    """Such a record, but what it stands in was aborted."""
    value = _write_late(story, draw, kind=None)
    if value is not None:
        story.drop("audit", lambda row: value_of(row) == value and row["isolation"] == "read_committed")
    return value is not None


def near_not_searched(story: Story, draw: Random) -> bool:
    """Such a record, in a log of which not all was read on its leader's disk."""
    value = _write_late(story, draw, kind=None)
    for row in story.rows["audit"]:
        if value is not None and value_of(row) == value:
            for dump in story.all("dumps", **named(place_of(row))):
                dump |= {"complete": False, "why": "a segment was deleted meanwhile"}
    return value is not None


PLANTS = (marker_forgotten, written_late, near_written_late_unseen, near_not_searched)


# --- what they share --------------------------------------------------------------------------------------------------


def _severity(story: Story, value: Value, offset: int) -> str:
    """How bad the reference holds it."""
    names = "producer", "producer_incarnation", "seq", "offset"
    mine = [row for row in late_write(story) if tuple(row[name] for name in names) == (*value, offset)]
    return str(mine[0]["severity"]) if mine else "violation"


def _shown(story: Story, stretch: Row) -> list[tuple[Value, int]]:
    """The records of a stretch that careful readers are shown, with their offsets."""
    rows = story.all("audit", **named(place_of(stretch)), isolation="read_committed")
    inside = [row for row in rows if stretch["first"] <= row["offset"] <= stretch["last"]]
    return [(value, row["offset"]) for row in inside if (value := value_of(row)) is not None]


def _known(story: Story, stretch: Row) -> bool:
    """Whether it is written down of any record of a stretch which transaction it was sent in."""
    sends, rows = attempts(story), story.all("audit", **named(place_of(stretch)))
    values = [value_of(row) for row in rows if stretch["first"] <= row["offset"] <= stretch["last"]]
    return any(value in sends for value in values if value)


def _write_late(story: Story, draw: Random, kind: str | None = "late") -> Value | None:
    """Have one more record of a committed transaction stand behind its marker, in an ended stretch of its own."""
    last = {row["probe"]: row["txn"] for row in sorted(story.rows["transactions"], key=lambda row: int(row["ended"]))}
    ends = {row["txn"] for row in story.all("transactions", outcome="committed") if row["txn"] in last.values()}
    inside = [s for s in story.rows["stretches"] if place_of(s) in story.free and _shown(story, s)]
    sends = attempts(story)
    fitting = [
        (stretch, value)
        for stretch in inside
        for value, _ in _shown(story, stretch)
        if value in sends and sends[value]["txn"] in ends
    ]
    if not fitting:
        return None
    stretch, twin = draw.choice(fitting)
    place, row = place_of(stretch), sends[twin]
    story.free.remove(place)
    seq = 1_000 + max(each["seq"] for each in story.rows["sends"] if member_of(each) == twin[:2])
    value: Value = (*twin[:2], seq)
    story.rows["sends"].append(row | {"seq": seq, "outcome": "info", "offset": None, "error": "_MSG_TIMED_OUT"})
    append(story, place, value)
    offset = story.logs[place].end - 1
    own = {"first": offset, "last": offset, "marker": offset + 1}
    story.rows["stretches"].append(stretch | own)
    if kind is not None:
        story.expect("late_write", _severity(story, value, offset), kind, *value, *place, offset)
    return value
