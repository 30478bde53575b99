"""Plants in the log: records lost, cut off, doubled, turned round, and two at one offset."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from random import Random

from analysis.history import Row, ns
from truth.logs import Place, Value
from truth.reference_log import unclean
from truth.sightings import acknowledged, attempts, in_log, settings, written
from truth.story import LEVELS, Story, named, place_of, value_of


def lost(story: Story, draw: Random) -> bool:
    """A4: an acknowledged record that nobody ever sees."""
    owed = written(story)
    sends = [row for value, row in attempts(story).items() if value in owed and acknowledged(row)]
    row = _pick(story, draw, sends, judged=True)
    if row is None:
        return False
    value = row["probe"], row["incarnation"], row["seq"]
    _vanish(story, value, "reads", "audit")
    story.expect("lost", _gone(story, value, place_of(row), read=False), *value)
    return True


def truncated(story: Story, draw: Random) -> bool:
    """A4: a record that was read is not in the log any more."""
    row = _pick(story, draw, story.rows["reads"], judged=True)
    if row is None:
        return False
    value = value_of(row) or ("", 0, 0)
    _vanish(story, value, "audit")
    story.expect("lost", _gone(story, value, place_of(row), read=True), *value)
    return True


def doubled(story: Story, draw: Random) -> bool:
    """A2: a record once more at the end of its partition or of another."""
    known = in_log(story)
    row = _pick(story, draw, story.rows["audit"])
    if row is None:
        return False
    value = value_of(row) or ("", 0, 0)
    others = [place for place in story.free if place > place_of(row)]
    place = draw.choice([place_of(row), *others])
    story.free = [each for each in story.free if each != place]
    assert len(known[value]) == 1
    _append(story, place, value)
    story.expect("duplicate_in_log", "violation" if story.settings(value)["idempotent"] else "allowed", *value)
    return True


def acknowledged_elsewhere(story: Story, draw: Random) -> bool:
    """A2: the acknowledgement named another place than the record's, one at which nothing is."""
    known = in_log(story)
    sends = [row for value, row in attempts(story).items() if value in known and acknowledged(row)]
    row = _pick(story, draw, sends)
    if row is None:
        return False
    value = row["probe"], row["incarnation"], row["seq"]
    row["offset"] = story.logs[place_of(row)].end + draw.randint(3, 9)
    story.expect("duplicate_in_log", "violation" if story.settings(value)["idempotent"] else "allowed", *value)
    return True


def stranger_twice(story: Story, draw: Random) -> bool:
    """A2, unproven: a record of a process whose settings nobody wrote down stands in the log twice."""
    place = _place(story, draw)
    if place is None:
        return False
    value: Value = ("ghost", _ghosts(story), 0)
    _append(story, place, value)
    _append(story, place, value)
    story.expect("duplicate_in_log", "unproven", *value)
    return True


def read_otherwise(story: Story, draw: Random) -> bool:
    """A1: a reader is given another record at an offset than everybody else; so that one was cut off (A4)."""
    alone = [row for row in story.rows["reads"] if row["group"] is None]
    row = _pick(story, draw, alone, judged=True)
    if row is None:
        return False
    place = place_of(row)
    value = _ghost(story, draw, place, acks=-1, offset=None)
    row |= {"producer": value[0], "producer_incarnation": value[1], "seq": value[2]}
    story.expect("inconsistent_offset", "allowed" if unclean(place[0]) else "violation", *place, row["offset"])
    story.expect("lost", _gone(story, value, place, read=True), *value)
    return True


def acknowledged_twice(story: Story, draw: Random) -> bool:
    """A1: an acknowledgement named the offset of another record; its own is lost (A4)."""
    row = _pick(story, draw, story.rows["audit"], judged=True)
    if row is None:
        return False
    place, acks = place_of(row), draw.choice([-1, 1])
    value = _ghost(story, draw, place, acks=acks, offset=row["offset"])
    allowed = unclean(place[0]) or acks != -1
    story.expect("inconsistent_offset", "allowed" if allowed else "violation", *place, row["offset"])
    story.expect("lost", _gone(story, value, place, read=False), *value)
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
    setting = settings(story)[first[:2]]
    if not setting["idempotent"] and setting["max_in_flight"] != 1:
        story.expect("send_order", "allowed", *second)
    elif sends.get(first, {}).get("outcome") == "ok":
        story.expect("send_order", "violation", *second)
    return True


# --- near misses ------------------------------------------------------------------------------------------------------


def near_lost_but_uncertain(story: Story, draw: Random) -> bool:
    """A record that was never acknowledged, or whose transaction did not commit, is gone: nobody is owed it."""
    owed, known = written(story), in_log(story)
    sends = [row for value, row in attempts(story).items() if value not in owed and value in known]
    row = _pick(story, draw, sends)
    if row is None:
        return False
    _vanish(story, (row["probe"], row["incarnation"], row["seq"]), "reads", "audit")
    return True


def near_lost_to_retention(story: Story, draw: Random) -> bool:
    """An acknowledged record below the log start that nobody read was deleted by right."""
    sends = [r for r in story.rows["sends"] if acknowledged(r) and r["offset"] < story.logs[place_of(r)].start]
    row = _pick(story, draw, sends)
    if row is None:
        return False
    _vanish(story, (row["probe"], row["incarnation"], row["seq"]), "reads")
    return True


def near_lost_unaudited(story: Story, draw: Random) -> bool:
    """What an incomplete audit did not find may be there."""
    place = _place(story, draw)
    if place is None:
        return False
    for row in story.all("audit_ranges", **named(place)):
        row |= {"complete": False, "why": "timed out"}
    cut = draw.randrange(story.logs[place].end + 1)
    story.drop("audit", lambda row: place_of(row) == place and row["offset"] >= cut)
    return True


def near_foreign(story: Story, draw: Random) -> bool:
    """Records of somebody else at the end of the log, and one of them read."""
    place = _place(story, draw)
    if place is None:
        return False
    for _ in range(draw.randint(1, 3)):
        _append(story, place, None)
    return True


PLANTS = (
    lost, truncated, doubled, acknowledged_elsewhere, stranger_twice, read_otherwise, acknowledged_twice, turned,
    near_lost_but_uncertain, near_lost_to_retention, near_lost_unaudited, near_foreign,
)  # fmt: skip


# --- what they share --------------------------------------------------------------------------------------------------


def _pick(story: Story, draw: Random, rows: list[Row], *, judged: bool = False) -> Row | None:
    """A row in a partition that is free, taken from then on; ``judged``: at an offset that retention left."""
    fitting = [
        row
        for row in rows
        if place_of(row) in story.free and (not judged or row["offset"] >= story.logs[place_of(row)].start)
    ]
    if not fitting:
        return None
    row = draw.choice(fitting)
    story.free.remove(place_of(row))
    return row


def _place(story: Story, draw: Random) -> Place | None:
    """A free partition, taken from then on."""
    if not story.free:
        return None
    place = draw.choice(story.free)
    story.free.remove(place)
    return place


def _vanish(story: Story, value: Value, *tables: str) -> None:
    for table in tables:
        story.drop(table, lambda row: value_of(row) == value)


def _gone(story: Story, value: Value, place: Place, *, read: bool) -> str:
    """How bad it is that a record is gone."""
    if place[0] == "compacted":
        return "unproven"
    if unclean(place[0]) or (not read and story.settings(value)["acks"] != -1):
        return "allowed"
    return "violation"


def _append(story: Story, place: Place, value: Value | None) -> None:
    """One more record at the end of the log, which only the tail audit sees."""
    who = value or (None, None, None)
    offset = story.logs[place].append(20, value or ("", 0, 0)).offset
    for isolation in LEVELS:
        story.add(
            "audit", isolation=isolation, **named(place), offset=offset, producer=who[0], producer_incarnation=who[1],
            seq=who[2], intact=value is not None,
        )  # fmt: skip
    for row in story.all("audit_ranges", **named(place)):
        row["end"] = offset + 1


def _ghosts(story: Story) -> int:
    """The next incarnation of the probe ``ghost``."""
    used = [row["incarnation"] for row in story.all("incarnations", probe="ghost")]
    used += [row["producer_incarnation"] for row in story.all("audit", producer="ghost")]
    return 1 + max(used, default=-1)


def _ghost(story: Story, draw: Random, place: Place, *, acks: int, offset: int | None) -> Value:
    """One more producer with one record: acknowledged at an offset, or of unknown fate."""
    value: Value = ("ghost", _ghosts(story), 0)
    at = draw.uniform(-4, 15)
    story.add(
        "incarnations", probe="ghost", incarnation=value[1], kind="produce", started=ns(at - 1), pid=1,
        client="2.16.1", acks=acks, idempotent=False, max_in_flight=5,
    )  # fmt: skip
    story.add("ends", probe="ghost", incarnation=value[1], at=ns(21), scheduled=1, rows=1)
    story.add(
        "sends", probe="ghost", incarnation=value[1], seq=0, **named(place), scheduled=ns(at), invoked=ns(at),
        completed=ns(at + 0.005), outcome="info" if offset is None else "ok", offset=offset,
    )  # fmt: skip
    return value


def _sent(sends: dict[Value, Row], probe: str, incarnation: int) -> set[int]:
    """Sequence numbers of which a process wrote the outcome down."""
    return {value[2] for value in sends if value[:2] == (probe, incarnation)}
