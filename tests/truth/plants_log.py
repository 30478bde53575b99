"""Plants in the log: records lost, cut off, doubled, turned round, and two at one offset."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from random import Random

from analysis.history import Row
from truth import reference_log
from truth.logs import Place, Value
from truth.planting import append, claim, cut, free_place, ghost, ghosts, gone, stale, torn, vanish
from truth.reference_log import followed, send_order
from truth.sightings import acknowledged, attempts, in_log, settings, written
from truth.story import Story, named, place_of, value_of
from truth.truncated import excused

_NONE: Row = {"txn": None}


def lost(story: Story, draw: Random) -> bool:
    """A4: an acknowledged record that nobody ever sees."""
    owed = written(story)
    sends = [row for value, row in attempts(story).items() if value in owed and acknowledged(row)]
    row = claim(story, draw, sends, judged=True)
    if row is None:
        return False
    value = row["probe"], row["incarnation"], row["seq"]
    vanish(story, value, "reads", "audit")
    gone(story, value)
    torn(story, value)
    return True


def truncated(story: Story, draw: Random) -> bool:
    """A4: a record that was read is not in the log any more."""
    row = claim(story, draw, story.rows["reads"], judged=True)
    if row is None:
        return False
    value = value_of(row) or ("", 0, 0)
    vanish(story, value, "audit")
    gone(story, value)
    torn(story, value)
    return True


def doubled(story: Story, draw: Random) -> bool:
    """A2: a record once more at the end of its partition or of another."""
    known, sends = in_log(story), attempts(story)
    row = claim(
        story, draw, [r for r in story.rows["audit"] if sends.get(value_of(r) or ("", 0, 0), _NONE)["txn"] is None]
    )
    if row is None:
        return False
    value = value_of(row) or ("", 0, 0)
    others = [place for place in story.free if place > place_of(row)]
    place = draw.choice([place_of(row), *others])
    story.free = [each for each in story.free if each != place]
    assert len(known[value]) == 1
    append(story, place, value)
    if story.settings(value)["idempotent"]:  # else it may be a retry: see plants
        story.expect("duplicate_in_log", "violation", *value)
    if place != place_of(row) and sends.get(value, _NONE).get("partition") is not None:
        there = story.logs[place].end - 1  # no retry takes it there
        story.expect("unknown_value", "violation", *place, there, *value)
    return True


def acknowledged_elsewhere(story: Story, draw: Random) -> bool:
    """A2: the acknowledgement named another place than the record's, one at which nothing is."""
    known = in_log(story)
    sends = [row for value, row in attempts(story).items() if value in known and acknowledged(row)]
    row = claim(story, draw, sends)
    if row is None:
        return False
    value = row["probe"], row["incarnation"], row["seq"]
    row["offset"] = story.logs[place_of(row)].end + draw.randint(3, 9)
    stale(story, place_of(row))
    cut(story, place_of(row))
    for behind in send_order(story):
        named = behind["producer"], behind["producer_incarnation"], behind["seq"]
        if place_of(behind) == place_of(row) and behind["severity"] != "information" and not _loose(story, named):
            story.expect("send_order", behind["severity"], *named)
    if story.settings(value)["idempotent"]:  # else it may be a retry: see plants
        story.expect("duplicate_in_log", "violation", *value)
    return True


def stranger_twice(story: Story, draw: Random) -> bool:
    """A2, unproven: a record of a process whose settings nobody wrote down stands in the log twice."""
    place = free_place(story, draw)
    if place is None:
        return False
    value: Value = ("ghost", ghosts(story), 0)
    append(story, place, value)
    append(story, place, value)
    story.expect("duplicate_in_log", "unproven", *value)
    for row in story.all("audit", isolation="read_committed", producer="ghost", producer_incarnation=value[1]):
        story.expect("unknown_value", "violation", *place, row["offset"], *value)
    return True


def read_otherwise(story: Story, draw: Random) -> bool:
    """A1: a reader is given another record at an offset than everybody else; so that one was cut off (A4)."""
    alone = [row for row in story.rows["reads"] if row["group"] is None]
    row = claim(story, draw, alone, judged=True)
    if row is None:
        return False
    place = place_of(row)
    value = ghost(story, draw, place, acks=-1, offset=None)
    row |= {"producer": value[0], "producer_incarnation": value[1], "seq": value[2]}
    story.expect("inconsistent_offset", _severity(story, place, row["offset"]), *place, row["offset"])
    gone(story, value)
    return True


def acknowledged_twice(story: Story, draw: Random) -> bool:
    """A1: an acknowledgement named the offset of another record; its own is lost (A4)."""
    row = claim(story, draw, story.rows["audit"], judged=True)
    if row is None:
        return False
    place, acks = place_of(row), draw.choice([-1, 1])
    value = ghost(story, draw, place, acks=acks, offset=row["offset"])
    allowed = (acks != -1 and followed(story, place) is not None) or excused(story, place, row["offset"])
    story.expect("inconsistent_offset", "allowed" if allowed else "violation", *place, row["offset"])
    gone(story, value)
    return True


def turned(story: Story, draw: Random) -> bool:
    """A8: two records that one process sent one after the other stand in the log the other way round."""
    known, sends = in_log(story), attempts(story)
    streams: dict[tuple[str, int, Place], list[tuple[int, int]]] = defaultdict(list)
    for value in sorted(known):
        topic, partition, offset = min(known[value])
        if (topic, partition) in story.free:
            streams[*value[:2], (topic, partition)].append((value[2], offset))
    pairs = [
        ((probe, incarnation, a), low, (probe, incarnation, b), high, place)
        for (probe, incarnation, place), stream in streams.items()
        for (a, low), (b, high) in pairwise(stream)
        if low >= story.logs[place].start
        and sends.get((probe, incarnation, a), {}).get("txn") == sends.get((probe, incarnation, b), {}).get("txn")
        and (a in _sent(sends, probe, incarnation)) == (b in _sent(sends, probe, incarnation))
    ]
    if not pairs:
        return False
    first, low, second, high, place = draw.choice(pairs)
    story.free.remove(place)
    names = ("producer", "producer_incarnation", "seq")
    for row in (*story.rows["reads"], *story.rows["audit"]):
        if place_of(row) == place and row["offset"] in {low, high}:
            row |= dict(zip(names, second if row["offset"] == low else first, strict=True))
    for value, offset in ((first, high), (second, low)):
        if value in sends and sends[value]["offset"] is not None:
            sends[value]["offset"] = offset
    stale(story, place)
    cut(story, place)
    if not _loose(story, first) and sends.get(first, {}).get("outcome") == "ok":
        story.expect("send_order", "violation", *second)
    return True


# --- near misses ------------------------------------------------------------------------------------------------------


def near_lost_but_uncertain(story: Story, draw: Random) -> bool:
    """A record that was never acknowledged, or whose transaction did not commit, is gone: nobody is owed it."""
    owed, known = written(story), in_log(story)
    sends = [row for value, row in attempts(story).items() if value not in owed and value in known]
    row = claim(story, draw, sends)
    if row is None:
        return False
    vanish(story, (row["probe"], row["incarnation"], row["seq"]), "reads", "audit")
    return True


def near_lost_to_retention(story: Story, draw: Random) -> bool:
    """An acknowledged record below the log start that nobody read was deleted by right."""
    sends = [r for r in story.rows["sends"] if acknowledged(r) and r["offset"] < story.logs[place_of(r)].start]
    row = claim(story, draw, sends)
    if row is None:
        return False
    vanish(story, (row["probe"], row["incarnation"], row["seq"]), "reads")
    return True


def near_lost_unaudited(story: Story, draw: Random) -> bool:
    """What an incomplete audit did not find may be there: open, all of it."""
    place = free_place(story, draw)
    if place is None:
        return False
    for row in story.all("audit_ranges", **named(place)):
        row |= {"complete": False, "why": "timed out"}
    cut = draw.randrange(story.logs[place].end + 1)
    story.drop("audit", lambda row: place_of(row) == place and row["offset"] >= cut)
    for row in reference_log.lost(story):
        if place_of(row) == place:
            assert row["severity"] == "unproven"
            story.expect("lost", "unproven", row["producer"], row["producer_incarnation"], row["seq"])
    return True


def near_foreign(story: Story, draw: Random) -> bool:
    """Records of somebody else at the end of the log, and one of them read."""
    place = free_place(story, draw)
    if place is None:
        return False
    for _ in range(draw.randint(1, 3)):
        append(story, place, None)
    return True


PLANTS = (
    lost, truncated, doubled, acknowledged_elsewhere, stranger_twice, read_otherwise, acknowledged_twice, turned,
    near_lost_but_uncertain, near_lost_to_retention, near_lost_unaudited, near_foreign,
)  # fmt: skip


# --- what they share --------------------------------------------------------------------------------------------------


def _loose(story: Story, value: Value) -> bool:
    """Whether a retry of the process that wrote a value may be overtaken."""
    setting = settings(story)[value[:2]]
    return not setting["idempotent"] and setting["max_in_flight"] != 1


def _severity(story: Story, place: Place, offset: int) -> str:
    """How bad it is that two records are known of one offset."""
    return "allowed" if excused(story, place, offset) else "violation"


def _sent(sends: dict[Value, Row], probe: str, incarnation: int) -> set[int]:
    """Sequence numbers of which a process wrote the outcome down."""
    return {value[2] for value in sends if value[:2] == (probe, incarnation)}
