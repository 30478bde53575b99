"""Plants in reading and committing: records skipped, delivered backwards, left out or given again in a new term."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any

from analysis.history import Row
from truth.planting import jumped, steady
from truth.reference_members import given_by, name_of, terms
from truth.reference_reading import Owned, blind, hidden, owned
from truth.sightings import Spot, attempts, spot_of
from truth.story import Story, member_of, place_of, value_of

Deliveries = list[Row]
"""The deliveries of one member, partition and assignment, in order."""


def skipped(story: Story, draw: Random) -> bool:
    """B1: a reader without a group leaves out a record that is there."""
    row = _skip(story, draw, alone=True)
    return row is not None


def skipped_by_group(story: Story, draw: Random) -> bool:
    """B1: a group's member leaves out a record, which the group never gets (A5) and commits past (B3)."""
    row = _skip(story, draw, alone=False)
    if row is None:
        return False
    _owed(story, row, "violation")
    later = [each["at"] for each in story.rows["reads"] if _alike(each, row) and each["offset"] > row["offset"]]
    for done in story.rows["commits"]:
        by = given_by(story, done)
        ahead = done["outcome"] == "ok" and done["offset"] > row["offset"] and _alike(done, row)
        if ahead and by < min(later):
            story.expect("commit_ahead", "violation", *member_of(row), *place_of(row), done["offset"])
    return True


def backwards(story: Story, draw: Random) -> bool:
    """B2: a member is given a record that it has had, without going on from there."""
    found = [term for term in _terms(story) if steady(story, term[0])]
    if not found:
        return False
    term = draw.choice(found)
    last, again = term[-1], draw.choice(term[-3:])
    story.free.remove(place_of(last))
    _shift(story, member_of(last), last["n"] + 1, 1)
    story.rows["reads"].append(again | {"n": last["n"] + 1, "poll": last["poll"], "at": last["at"] + 1})
    story.expect("poll_order", "violation", *member_of(last), *place_of(last), last["offset"], again["offset"])
    return True


def begun_too_late(story: Story, draw: Random) -> bool:
    """B3 and A5: a member that takes a partition over begins beyond what the group was given."""
    return _begin_late(story, draw, killed=False)


def begun_behind_killed(story: Story, draw: Random) -> bool:
    """B3 and A5, open: it begins beyond what a killed member has written down, and that one may have had more."""
    return _begin_late(story, draw, killed=True)


def begun_too_early(story: Story, draw: Random) -> bool:
    """B4: a member that takes a partition over begins below an offset whose commit was acknowledged before."""
    found = []
    for before, term in _takeovers(story):
        first = term[0]
        earlier = {row["offset"]: row for row in before if row["offset"] < first["offset"]}
        promised = _promised(story, first)
        again = [earlier[offset] for offset in sorted(earlier)[-draw.randint(1, 3) :]]
        if any(row["offset"] < promised for row in again) and steady(story, first):
            found.append((first, again, promised))
    if not found:
        return False
    first, again, promised = draw.choice(found)
    story.free.remove(place_of(first))
    who = {name: first[name] for name in ("probe", "incarnation", "group", "assignment", "poll")}
    number, at = first["n"], first["at"]
    _shift(story, member_of(first), number, len(again))
    for place, row in enumerate(again):
        story.rows["reads"].append(row | who | {"n": number + place, "at": at - len(again) + place})
        if row["offset"] < promised:
            story.expect("redelivery", "violation", *owned(first), row["offset"])
    jumped(story, terms(story)[name_of(first)])
    return True


# --- near misses ------------------------------------------------------------------------------------------------------


def near_skipped_by_seek(story: Story, draw: Random) -> bool:
    """A reader that seeks forward leaves records out of its own will."""
    row = _skip(story, draw, alone=True, foretold=False)
    if row is None:
        return False
    names = ("probe", "incarnation", "topic", "partition", "at")
    story.add("seeks", **{name: row[name] for name in names}, offset=row["offset"] + 1, kind="seek")
    return True


def near_skipped_across(story: Story, draw: Random) -> bool:
    """The last delivery of a term is left out, but the next term has that record: no step leads over it."""
    found = []
    for before, term in _takeovers(story):
        last = before[-1]
        if last["offset"] == term[0]["offset"]:
            found.append(last)
    if not found:
        return False
    row = draw.choice(found)
    story.free.remove(place_of(row))
    story.rows["reads"].remove(row)
    return True


PLANTS = (
    skipped, skipped_by_group, backwards, begun_too_late, begun_behind_killed, begun_too_early, near_skipped_by_seek,
    near_skipped_across,
)  # fmt: skip


# --- what they share --------------------------------------------------------------------------------------------------


def _terms(story: Story) -> list[Deliveries]:
    """The terms in free partitions that have deliveries, by time."""
    streams: dict[Any, Deliveries] = defaultdict(list)
    for row in sorted(story.rows["reads"], key=lambda each: (each["at"], each["n"])):
        if place_of(row) in story.free:
            streams[member_of(row), place_of(row), row["assignment"]].append(row)
    return list(streams.values())


def _takeovers(story: Story) -> Iterator[tuple[Deliveries, Deliveries]]:
    """Terms of groups that come after another of the same partition, with all deliveries before them."""
    by_owner: dict[Owned, list[Deliveries]] = defaultdict(list)
    for term in _terms(story):
        if term[0]["group"] is not None:
            by_owner[owned(term[0])].append(term)
    for several in by_owner.values():
        for number, term in enumerate(several[1:], start=1):
            yield [row for earlier in several[:number] for row in earlier], term


def _killed(story: Story, row: Row) -> set[tuple[str, int]]:
    """The killed members of the row's group that ever had its partition."""
    had = {member_of(r) for r in story.rows["assignments"] if owned(r) == owned(row)}
    return had & story.killed()


def _times(story: Story, group: str | None) -> dict[Spot, int]:
    times: dict[Spot, int] = defaultdict(int)
    for row in story.rows["reads"]:
        times[spot_of(row)] += row["group"] == group
    return times


def _skip(story: Story, draw: Random, *, alone: bool, foretold: bool = True) -> Row | None:
    """Take out a delivery between two others of a term, of an offset that is given once; the row that is gone."""
    found = []
    for term in _terms(story):
        first = term[0]
        fits = (first["group"] is None) is alone and steady(story, first) and (alone or not _killed(story, first))
        times = _times(story, first["group"]) if fits and not alone else {}
        for before, row, _ in zip(term, term[1:], term[2:], strict=False) if fits else ():
            kept = row["offset"] >= story.logs[place_of(row)].start
            if kept and (alone or times[spot_of(row)] == 1):
                found.append((before, row))
    if not found:
        return None
    before, row = draw.choice(found)
    story.free.remove(place_of(row))
    story.rows["reads"].remove(row)
    if foretold:
        story.expect("poll_skip", "violation", *member_of(row), *place_of(row), before["offset"], row["offset"])
    return row


def _begin_late(story: Story, draw: Random, *, killed: bool) -> bool:
    """Take out the first deliveries of a term that takes over, and what it found committed is beyond them."""
    found = []
    for before, term in _takeovers(story):
        first, rest = term[0], draw.randint(1, 2)
        lost = _killed(story, first)
        if len(term) <= rest or not steady(story, first):
            continue
        gone, times = term[:rest], _times(story, first["group"])
        fresh = all(times[spot_of(row)] == 1 and row["offset"] > max(r["offset"] for r in before) for row in gone)
        last = before[-1]
        behind = lost == {member_of(last)} and max(before, key=_offset) is last and _unfinished(story, last)
        if fresh and (behind if killed else not lost):
            found.append((gone, term[rest]["offset"]))
    if not found:
        return False
    gone, begins = draw.choice(found)
    story.free.remove(place_of(gone[0]))
    members = {member_of(row) for row in story.rows["assignments"] if owned(row) == owned(gone[0])}
    automatic = any(member_of(row) in members for row in story.all("incarnations", commit="automatic"))
    for row in gone:
        story.rows["reads"].remove(row)
        send = attempts(story).get(value_of(row) or ("", 0, 0))
        unclear = hidden(blind(story)[owned(row)], row["offset"], send["invoked"] if send else None)
        late = "allowed" if automatic else "unproven"
        _owed(story, row, late if killed and unclear else "violation")
    answer = terms(story)[name_of(gone[0])].answer
    assert answer is not None
    answer["offset"] = begins
    return True


def _unfinished(story: Story, row: Row) -> bool:
    """Whether the row's member was killed in the row's term, with no word of it after the row."""
    moves = [r for r in story.rows["assignments"] if member_of(r) == member_of(row) and owned(r) == owned(row)]
    last = max(moves, key=lambda r: int(r["at"]))
    return bool(last["kind"] == "assign" and last["assignment"] == row["assignment"])


def _owed(story: Story, row: Row, past: str) -> None:
    """A group was not given a record: what follows where it has committed past it; A5 is told of all readers alike."""
    place = place_of(row)
    if row["offset"] < story.logs[place].start:
        return  # retention deleted it since
    careful = story.all("audit", isolation="read_committed", topic=place[0], partition=place[1], offset=row["offset"])
    told = [r["offset"] for r in story.rows["groups"] if owned(r) == owned(row) and r["offset"] is not None]
    if careful and told and row["offset"] < told[0]:
        story.expect("commit_skip", past, *owned(row), row["offset"])


def _alike(one: Row, other: Row) -> bool:
    return member_of(one) == member_of(other) and place_of(one) == place_of(other)


def _commits(story: Story, row: Row) -> list[Row]:
    return [each for each in story.rows["commits"] if owned(each) == owned(row)]


def _promised(story: Story, row: Row) -> int:
    """The highest offset whose commit was acknowledged before the member of a term asked where it was to begin."""
    mine = [r for r in story.rows["fetched"] if member_of(r) == member_of(row) and owned(r) == owned(row)]
    asked = max((r["invoked"] for r in mine if r["completed"] < row["at"]), default=0)
    done = [r for r in _commits(story, row) if r["outcome"] == "ok" and r["completed"] < asked]
    return max((r["offset"] for r in done), default=-1)


def _shift(story: Story, who: tuple[str, int], number: int, by: int) -> None:
    """Make room in a member's order of delivery."""
    for row in story.rows["reads"]:
        if member_of(row) == who and row["n"] >= number:
            row["n"] += by


def _offset(row: Row) -> int:
    return int(row["offset"])
