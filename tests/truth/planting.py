"""What plants share: claiming a partition, making records vanish or appear, and what follows of a change."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from analysis.history import Row, ns
from truth.logs import Place, Value
from truth.reference_cluster import truncation_after_ack
from truth.reference_log import followed, lost
from truth.reference_members import Term
from truth.reference_txn import torn_transaction
from truth.removals import before_deletion
from truth.sightings import acknowledged, attempts, shown_to_careful
from truth.story import LEVELS, Story, member_of, named, place_of, value_of
from truth.truncated import SURE, excused

QUARTER = 250_000_000
"""Nanoseconds to which it is known what a log had reached."""


def claim(story: Story, draw: Random, rows: list[Row], *, judged: bool = False) -> Row | None:
    """A row in a partition that is free, taken from then on; ``judged``: at an offset that retention left."""
    fitting = [row for row in rows if unclaimed(story, row, judged=judged)]
    if not fitting:
        return None
    row = draw.choice(fitting)
    story.free.remove(place_of(row))
    return row


def free_place(story: Story, draw: Random) -> Place | None:
    """A free partition, taken from then on."""
    if not story.free:
        return None
    place = draw.choice(story.free)
    story.free.remove(place)
    return place


def vanish(story: Story, value: Value, *tables: str) -> None:
    """Take a record out of some tables."""
    for table in tables:
        story.drop(table, lambda row: value_of(row) == value)


def unclaimed(story: Story, row: Row, *, judged: bool = True) -> bool:
    """Whether a row is in a partition that is free; ``judged``: and at an offset that retention left."""
    place = place_of(row)
    return place in story.free and (not judged or row["offset"] >= story.logs[place].start)


def stale(story: Story, place: Place) -> None:
    """Offsets or times of acknowledgements have changed: which name an offset that the log had long passed (A11)."""
    mine = [row for row in story.rows["sends"] if place_of(row) == place and acknowledged(row)]
    acks = {id(row): story.settings((row["probe"], row["incarnation"], 0))["acks"] for row in mine}
    known = [(row["completed"] // QUARTER, row["offset"], acks[id(row)] == -1) for row in mine]
    known += [(r["at"] // QUARTER, r["offset"], True) for r in story.rows["reads"] if place_of(r) == place]
    for row in mine:
        sent = row["invoked"] // QUARTER
        if passed := [firm for when, offset, firm in known if when < sent and offset >= row["offset"]]:
            gone = excused(story, place, row["offset"], later=row["completed"])
            turn = followed(story, place)
            alone = turn is not None and turn <= row["completed"] + SURE
            violated = not gone and not (alone and (acks[id(row)] != -1 or not any(passed)))
            value = row["probe"], row["incarnation"], row["seq"]
            story.expect("stale_append", "violation" if violated else "allowed", *value)


def cut(story: Story, place: Place) -> None:
    """Acknowledgements with acks=all name other offsets: which answers of leaders lie at or before them (A15)."""
    mine = [row for row in story.rows["sends"] if place_of(row) == place and acknowledged(row)]
    mine = [row for row in mine if story.settings((row["probe"], row["incarnation"], 0))["acks"] == -1]
    views = story.all("partitions", **named(place), asked=0)
    for row in story.all("offsets", **named(place), leader=True):
        epoch = max(view["leader_epoch"] for view in views if view["at"] <= row["at"])
        later = [v["at"] - 5_000_000_000 for v in views if v["leader_epoch"] > epoch and v["leader"] != row["asked"]]
        by = min([row["at"], *later]) // QUARTER
        if any(each["completed"] // QUARTER < by and each["offset"] >= row["log_end"] for each in mine):
            severity = said(truncation_after_ack(story), place, row["asked"], epoch)
            story.expect("truncation_after_ack", severity, *place, row["asked"], epoch)


def said(rows: Iterable[Row], place: Place, leader: int, epoch: int) -> str:
    """How bad the reference holds what a leader told of its log in an epoch."""
    mine = [row for row in rows if place_of(row) == place and (row["leader"], row["leader_epoch"]) == (leader, epoch)]
    return str(mine[0]["severity"])


def torn(story: Story, value: Value) -> None:
    """A record has vanished: what follows (C3) if its transaction committed, as its client or others of it say."""
    sends, careful = attempts(story), shown_to_careful(story)
    row = sends.get(value)
    if row is None or row["txn"] is None or row["outcome"] != "ok" or row["topic"] == "compacted" or value in careful:
        return
    ends = [end["outcome"] for end in story.all("transactions", txn=row["txn"])]
    twins = any(other["txn"] == row["txn"] and twin in careful for twin, other in sends.items())
    if (twins or ends == ["committed"]) and ends != ["aborted"]:
        rows = [found for found in torn_transaction(story) if found["txn"] == row["txn"]]
        story.expect("torn_transaction", rows[0]["severity"], row["txn"])


def gone(story: Story, value: Value) -> None:
    """A record has vanished: how bad that is (A4), as the reference has it."""
    for row in lost(story):
        if (row["producer"], row["producer_incarnation"], row["seq"]) == value:
            story.expect("lost", row["severity"], *value)


def append(story: Story, place: Place, value: Value | None) -> None:
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


def ghosts(story: Story) -> int:
    """The next incarnation of the probe ``ghost``."""
    used = [row["incarnation"] for row in story.all("incarnations", probe="ghost")]
    used += [row["producer_incarnation"] for row in story.all("audit", producer="ghost")]
    return 1 + max(used, default=-1)


def ghost(story: Story, draw: Random, place: Place, *, acks: int, offset: int | None) -> Value:
    """One more producer with one record: acknowledged at an offset, or of unknown fate."""
    value: Value = ("ghost", ghosts(story), 0)
    at = draw.uniform(19.6, 19.9)
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


def steady(story: Story, row: Row) -> bool:
    """Whether nobody of that group, or that reader, ever sought."""
    sought = {seek["probe"] for seek in story.rows["seeks"]}
    if row["group"] is None:
        return row["probe"] not in sought
    return not any(each["probe"] in sought for each in story.all("incarnations", group=row["group"]))


def jumped(story: Story, term: Term) -> None:
    """A term begins elsewhere than at the committed offset that its member found: what follows of that (B7)."""
    first, found = term.reads[0]["offset"], term.answer["offset"] if term.answer else None
    level = story.isolation(term.member)
    seen = [r for r in story.rows["reads"] if story.isolation(member_of(r)) in {level, "read_committed"}]
    seen += [r for r in story.rows["audit"] if r["isolation"] == level]
    between = [r for r in seen if place_of(r) == term.place and found is not None and found <= r["offset"] < first]
    if found is None or (first >= found and not between):
        return
    at = term.reads[0]["at"]
    if first > found and story.logs[term.place].start > found and not before_deletion(story, term.place, found, at):
        return
    gone = excused(story, term.place, found - 1, later=term.reads[0]["at"])
    severity = "unproven" if term.place[0] == "compacted" else "allowed" if gone else "violation"
    kind = "earlier" if first < found else "later"
    story.expect("reset_jump", severity, kind, *term.member, *term.place, term.assignment)
