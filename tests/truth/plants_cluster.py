"""Plants in logs and their leaders: ends that go back, offsets used again, epochs that fall, records of nobody."""

from __future__ import annotations

from random import Random

from analysis.history import Row
from truth.logs import Place
from truth.planting import claim, gone, said, stale, unclaimed, vanish
from truth.reference_cluster import CELL, ack_below_min_isr, end_offset_regression, lost_write, truncation_after_ack
from truth.sightings import acknowledged, attempts, settings, written
from truth.story import TOPICS, Story, member_of, named, place_of
from truth.truncated import excused


def lost_unaudited(story: Story, draw: Random) -> bool:
    """A3: nobody has an acknowledged record that a reader passed, and the audit broke off."""
    owed = written(story)
    found = []
    for value, row in attempts(story).items():
        if value in owed and acknowledged(row) and unclaimed(story, row) and row["topic"] != "compacted":
            around = [r for r in story.rows["reads"] if place_of(r) == place_of(row) and r["at"] > row["completed"]]
            if _passes(story, around, row["offset"]):
                found.append((value, row))
    if not found:
        return False
    value, row = draw.choice(found)
    story.free.remove(place_of(row))
    vanish(story, value, "reads", "audit")
    for cover in story.all("audit_ranges", **named(place_of(row))):
        cover |= {"complete": False, "why": "timed out"}
    gone(story, value)
    for lost in lost_write(story):
        if (lost["producer"], lost["producer_incarnation"], lost["seq"]) == value:
            story.expect("lost_write", lost["severity"], *value)
    return True


def unreadable(story: Story, draw: Random) -> bool:
    """A10: one reader is given an unreadable record where everybody else has one of ours."""
    audited = {(*place_of(row), row["offset"]) for row in story.rows["audit"] if row["intact"]}
    rows = [r for r in story.rows["reads"] if (*place_of(r), r["offset"]) in audited and r["group"] is None]
    row = claim(story, draw, rows)
    if row is None:
        return False
    row |= {"intact": False, "producer": None, "producer_incarnation": None, "seq": None}
    severity = "allowed" if excused(story, place_of(row), row["offset"]) else "violation"
    story.expect("unknown_value", severity, *place_of(row), row["offset"], None, None, None)
    return True


def used_again(story: Story, draw: Random) -> bool:
    """A11: a record was sent when the log had long passed the offset that it was acknowledged at."""
    rows = [row for row in story.rows["sends"] if acknowledged(row) and row["txn"] is None]
    row = claim(story, draw, rows)
    if row is None:
        return False
    later = [each["at"] for each in story.rows["reads"] if place_of(each) == place_of(row)]
    late = max([row["invoked"], *later]) - row["invoked"] + draw.randint(1, 3 * CELL)
    for name in ("scheduled", "invoked", "completed"):
        row[name] += late
    stale(story, place_of(row))
    return True


def older_leader(story: Story, draw: Random) -> bool:
    """A13: a record bears an earlier leader's epoch than the one before it."""
    lowest: dict[Place, int] = {}
    seen = [row for table in ("reads", "audit") for row in story.rows[table] if row["leader_epoch"] is not None]
    for each in seen:
        lowest[place_of(each)] = min(each["offset"], lowest.get(place_of(each), each["offset"]))
    rows = [r for r in story.rows["audit"] if r["leader_epoch"] and r["offset"] > lowest[place_of(r)]]
    row = claim(story, draw, rows)
    if row is None:
        return False
    mine = [each for each in seen if place_of(each) == place_of(row)]
    before = max(each["offset"] for each in mine if each["offset"] < row["offset"])
    highest = max(each["leader_epoch"] for each in mine if each["offset"] == before)
    for each in mine:
        if each["offset"] == row["offset"]:
            each["leader_epoch"] = min(each["leader_epoch"], highest - 1)
    severity = "allowed" if excused(story, place_of(row), row["offset"]) else "violation"
    story.expect("leader_epoch_regression", severity, *place_of(row), row["offset"])
    return True


def cut_back(story: Story, draw: Random) -> bool:
    """A15: a leader's log ends at or before what was acknowledged or read long before."""
    return _end_early(story, draw, ("log_end", "high_watermark"), "truncation_after_ack")


def told_too_little(story: Story, draw: Random) -> bool:
    """A14: a leader tells an end at or before what was acknowledged or read long before; its log has it."""
    return _end_early(story, draw, ("high_watermark",), "end_offset_regression")


def too_few_in_sync(story: Story, draw: Random) -> bool:
    """A16: everybody who is asked names too few replicas for a while, and records are acknowledged meanwhile."""
    return _shrink(story, draw, everybody=True)


# --- near misses ------------------------------------------------------------------------------------------------------


def near_deposed(story: Story, draw: Random) -> bool:
    """A leader that does not know of its successor tells of the end that its own log has."""
    places = [place for place in story.free if story.logs[place].hit and story.logs[place].epoch(3) == 4]
    rows = [r for r in story.rows["offsets"] if place_of(r) in places and r["asked"] == 2 and _seconds(r) < 5]
    row = claim(story, draw, rows)
    if row is None:
        return False
    before = [r for r in story.rows["offsets"] if place_of(r) == place_of(row) and r["asked"] == 1 and _seconds(r) < 1]
    if not before:
        return False
    last = max(before, key=lambda each: int(each["at"]))
    view = max(story.all("partitions", **named(place_of(row)), asked=1), key=lambda r: -abs(r["at"] - last["at"]))
    story.rows["offsets"].append(last | {"at": row["at"]})
    story.rows["partitions"].append(view | {"at": row["at"] - 5})
    return True


def near_follower(story: Story, draw: Random) -> bool:
    """A replica that does not hold itself to be the leader may end anywhere."""
    row = claim(story, draw, story.rows["offsets"])
    if row is None:
        return False
    row |= {"leader": False, "log_end": 0, "high_watermark": None, "last_stable": None}
    return True


def near_one_names_enough(story: Story, draw: Random) -> bool:
    """One broker names too few replicas, the other one as many as there must be."""
    return _shrink(story, draw, everybody=False)


PLANTS = (
    lost_unaudited, unreadable, used_again, older_leader, cut_back, told_too_little, too_few_in_sync,
    near_deposed, near_follower, near_one_names_enough,
)  # fmt: skip


# --- what they share --------------------------------------------------------------------------------------------------


def _shrink(story: Story, draw: Random, *, everybody: bool) -> bool:
    """Let the samples around an acknowledgement name one replica, or all of them but those of one broker."""
    careful = {who for who, row in settings(story).items() if row["acks"] == -1}
    bound = [place for place in story.free if TOPICS[place[0]].get("min.insync.replicas") == 2]
    rows = [r for r in story.all("sends", outcome="ok") if place_of(r) in bound and member_of(r) in careful]
    row = claim(story, draw, rows)
    if row is None:
        return False
    around = draw.choice([1, 2, 3, 8])
    began, ended = row["invoked"] - around * 10**9, row["completed"] + (around + draw.randint(0, 2)) * 10**9
    mine = [s for s in story.all("partitions", **named(place_of(row))) if began <= s["at"] <= ended]
    for sample in mine:
        if everybody or sample["asked"] != 0:
            sample["isr"] = sample["isr"][:1]
    times = [sample["at"] for sample in mine]
    inside = [
        each["offset"]
        for each in rows
        if place_of(each) == place_of(row)
        and min(times, default=ended) <= each["invoked"]
        and each["completed"] <= max(times, default=began)
    ]
    if everybody and inside:
        stretches = [each for each in ack_below_min_isr(story) if place_of(each) == place_of(row)]
        (severity,) = [each["severity"] for each in stretches if each["first"] == min(inside)]
        story.expect("ack_below_min_isr", severity, *place_of(row), min(inside))
    return True


def _passes(story: Story, reads: list[Row], offset: int) -> bool:
    """Whether a reader that never sought was given records before and behind an offset in one term."""
    sought = {member_of(row) for row in story.rows["seeks"]}
    for row in reads:
        mine = [
            r["offset"]
            for r in reads
            if (member_of(r), r["assignment"]) == (member_of(row), row["assignment"]) and member_of(r) not in sought
        ]
        if mine and min(mine) < offset < max(mine):
            return True
    return False


def _end_early(story: Story, draw: Random, columns: tuple[str, ...], check: str) -> bool:
    """Have a leader that has no successor tell of an early end."""
    process = settings(story)
    firm = [
        (place_of(row), row["completed"], row["offset"])
        for row in story.rows["sends"]
        if acknowledged(row) and process[member_of(row)]["acks"] == -1
    ] + [(place_of(row), row["at"], row["offset"]) for row in story.rows["reads"]]
    found = []
    for row in story.rows["offsets"] if story.free else ():
        if place_of(row) in story.free and (_seconds(row) > 7 or not story.logs[place_of(row)].hit):
            known = [o for place, at, o in firm if place == place_of(row) and at < row["at"] - 2 * CELL]
            if known:
                found.append((row, max(known)))
    if not found:
        return False
    row, highest = draw.choice(found)
    story.free.remove(place_of(row))
    end = draw.randint(0, highest)
    row |= dict.fromkeys((*columns, "last_stable"), end)
    epoch = story.logs[place_of(row)].epoch(_seconds(row))
    severity = said(_ENDS[check](story), place_of(row), row["asked"], epoch)
    story.expect(check, severity, *place_of(row), row["asked"], epoch)
    return True


_ENDS = {"truncation_after_ack": truncation_after_ack, "end_offset_regression": end_offset_regression}


def _seconds(row: Row) -> float:
    return (int(row["at"]) - 1_000_000_000_000) / 1e9
