"""The rules about positions and committed offsets (B5, B6, B7) in plain Python, from the definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from analysis.history import Row, ns
from truth.reference_members import Term, given_by, name_of, terms
from truth.reference_reading import Owned, found_after, kept, owned, passed_over, sightings
from truth.removals import before_deletion
from truth.sightings import covers, settings
from truth.story import END, LEVELS, Story, member_of, named, place_of
from truth.truncated import Cut, excused

AUDITED = ns(END + 1)
"""When the groups are asked what they committed."""


def commit_regression(story: Story) -> Iterator[Row]:
    """B6: what was committed goes back: for a group that asks, for a member by itself, by one that has it no more."""
    groups = {member_of(row): row["group"] for row in story.rows["incarnations"]}
    sought = {(groups[member_of(row)], *place_of(row)) for row in story.rows["seeks"]}
    cut = story.cut | story.cut_off()
    for row in (*_lost_commits(story), *_own(story), *_zombies(story)):
        unknown = row["kind"] == "lost_commit" and owned(row) in sought and row["group"] in cut
        again = row.pop("again", None)
        due = found_after((-1 if row["offset"] is None else row["offset"], again)) if again is not None else _always
        span = place_of(row), row["committed"] - 1, row["since"], row["until"]
        gone, perhaps = excused(story, *span, also=due), excused(story, *span) and row["group"] in cut
        yield {
            "severity": "unproven" if unknown or (perhaps and not gone) else "allowed" if gone else "violation",
            **row,
        }


def _always(_: Cut) -> bool:
    return True


def _lost_commits(story: Story) -> Iterator[Row]:
    """A member, or who asked after the run, found something older than what was acknowledged before."""
    given, followed = terms(story), _followed(story)
    by_owner: dict[Owned, list[Row]] = defaultdict(list)
    for row in story.rows["commits"]:
        by_owner[owned(row)].append(row)
    for who, answer in _answers(story, given):
        commits = by_owner[owned(who)]
        done = [row for row in commits if row["outcome"] == "ok" and row["completed"] is not None]
        promised = [row for row in done if row["completed"] < answer["invoked"]]
        if not promised:
            continue
        newest = max(_sent_after(row, given) for row in promised)
        highest, found = max(row["offset"] for row in promised), answer["offset"]
        carry = [row for row in commits if row["offset"] == found and row["invoked"] < answer["completed"]]
        once = any(row in promised for row in carry)
        explained = any(
            row["outcome"] == "info"
            or (row in done and not (row["completed"] < newest or followed.get(id(row), 2**62) < answer["invoked"]))
            for row in carry
        )
        if (found is None or found < highest or once) and not explained:
            yield {
                "kind": "lost_commit", **who, "offset": found, "committed": highest,
                "since": min(row["completed"] for row in promised if row["offset"] == highest),
                "until": answer["completed"],
                "again": max((row["invoked"] for row in carry), default=0),
            }  # fmt: skip


def _answers(story: Story, given: dict[Any, Term]) -> Iterator[tuple[Row, Row]]:
    """Who was told of a committed offset, and what; in the end that is nobody of the run."""
    for term in given.values():
        if term.answer is not None and term.group is not None:
            yield _term(term), term.answer
    for row in story.rows["groups"]:
        nobody = {"probe": None, "incarnation": None, "assignment": None}
        asked = {"offset": row["offset"], "invoked": AUDITED, "completed": AUDITED + ns(1) - ns(0)}
        yield nobody | {"group": row["group"], **named(place_of(row))}, asked


def _sent_after(row: Row, given: dict[Any, Term]) -> int:
    """When a commit was sent at the earliest; nobody knows when automatic ones are."""
    if row["kind"] != "auto":
        return int(row["invoked"])
    term = given.get(name_of(row))
    return term.given if term else 0


def _followed(story: Story) -> dict[int, int]:
    """By commit that its member waited for, when its next one was acknowledged."""
    streams: dict[Any, list[Row]] = defaultdict(list)
    for row in story.rows["commits"]:
        if row["outcome"] == "ok" and row["completed"] is not None:
            streams[member_of(row), owned(row)].append(row)
    found = {}
    for stream in streams.values():
        stream.sort(key=lambda row: (row["completed"], row["offset"]))
        for row, later in pairwise(stream):
            if row["kind"] != "async":
                found[id(row)] = later["completed"]
    return found


def _held(story: Story) -> Iterator[tuple[Term, Row]]:
    """Acknowledged commits in the term that they were asked for in."""
    given = terms(story)
    for row in story.rows["commits"]:
        term = given.get(name_of(row))
        if row["outcome"] == "ok" and term and row["invoked"] >= term.given:
            yield term, row


def _own(story: Story) -> Iterator[Row]:
    """A member committed less than before in the same generation, or term, and had not sought in between."""
    streams: dict[Any, list[tuple[Term, Row]]] = defaultdict(list)
    for term, row in _held(story):
        which = row["assignment"] if row["generation"] is None else row["generation"]
        streams[member_of(row), owned(row), which].append((term, row))
    for stream in streams.values():
        stream.sort(key=lambda each: (each[1]["invoked"], each[1]["completed"], each[1]["offset"]))
        sent: list[tuple[int, int]] = []
        for number, (term, row) in enumerate(stream):
            offset, since = max(sent, default=(-1, 0))
            back = any(since <= at <= row["completed"] for at in _seeks(story, term))
            if row["offset"] < offset and not back:
                times = {"since": since, "until": row["completed"]}
                yield {"kind": "self", **_term(term), "offset": row["offset"], "committed": offset, **times}
            if number > 0 or row["kind"] != "auto":
                sent.append((row["offset"], row["invoked"]))


def _zombies(story: Story) -> Iterator[Row]:
    """A member committed a partition that another one had been given since."""
    given = terms(story)
    for term, row in _held(story):
        later = [
            other
            for other in given.values()
            if (other.group, other.place) == (term.group, term.place) and other.member != term.member
        ]
        passed = [other.given for other in later if term.given < other.given < row["invoked"]]
        if row["kind"] != "auto" and passed:
            times = {"since": min(passed), "until": row["completed"]}
            yield {"kind": "zombie", **_term(term), "offset": row["offset"], "committed": row["offset"], **times}


def commit_ahead(story: Story) -> Iterator[Row]:
    """B5: committed beyond records that are proven to be there, and that the member had not been given."""
    process, shown, killed = settings(story), sightings(story, deleted=True), story.killed()
    positions: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    polled: dict[Any, list[Row]] = defaultdict(list)
    for row in story.rows["reads"]:
        polled[member_of(row), place_of(row), row["poll"]].append(row)
    for (member, place, _), rows in polled.items():
        positions[member, place].append((min(r["at"] for r in rows), max(r["offset"] for r in rows) + 1))
    for table, time in (("fetched", "completed"), ("seeks", "at")):
        for row in story.rows[table]:
            if row["offset"] is not None:
                positions[member_of(row), place_of(row)].append((row[time], row["offset"]))
    for row, by in (*((row, given_by(story, row)) for row in story.rows["commits"]), *_in_transactions(story)):
        member, place = member_of(row), place_of(row)
        known = [position for at, position in positions[member, place] if at <= by]
        if row["outcome"] != "ok" or not known or row["offset"] <= max(known):
            continue
        level = LEVELS[(process.get(member, {}).get("isolation") or LEVELS[1]) != LEVELS[0]]
        span = max(known), row["offset"]
        over = passed_over(shown[level, *place], span, None, (None, None))
        if over is not None:
            yield {
                "severity": "unproven" if member in killed else "violation", **_who(row), "group": row["group"],
                "assignment": row["assignment"], "offset": row["offset"], "position": max(known),
                "skipped": over,
            }  # fmt: skip
    yield from _beyond_the_log(story)


def _beyond_the_log(story: Story) -> Iterator[Row]:
    """What the cluster says after the run that a group committed, and lies beyond what the audit read."""
    for row in story.rows["groups"]:
        place, cover = place_of(row), covers(story).get(place_of(row))
        end = max((r["end"] for r in story.all("audit_ranges", isolation=LEVELS[0]) if place_of(r) == place), default=0)
        if row["offset"] is not None and cover and cover.complete and row["offset"] > end:
            yield {
                "severity": "allowed" if excused(story, place, None) else "violation", "probe": None,
                "incarnation": None, "group": row["group"], "assignment": None, "topic": row["topic"],
                "partition": row["partition"], "offset": row["offset"], "position": end, "skipped": None,
            }  # fmt: skip


def _in_transactions(story: Story) -> Iterator[tuple[Row, int]]:
    """Offsets that transactions committed, as commits, with the time at which they were handed over."""
    committed = {row["txn"] for row in story.rows["transactions"] if row["outcome"] == "committed"}
    for row in story.rows["txn_offsets"]:
        if row["txn"] in committed:
            yield row | {"outcome": "ok", "assignment": None}, row["at"]


def reset_jump(story: Story) -> Iterator[Row]:
    """B7: a member that did not seek began elsewhere than at the first record from the committed offset on."""
    process, shown, cover = settings(story), sightings(story, deleted=True), covers(story)
    for term in terms(story).values():
        if term.answer is None or term.group is None or not term.reads:
            continue
        first, found = term.reads[0], term.answer["offset"]
        if any(term.given <= at <= first["at"] for at in _seeks(story, term)):
            continue
        level = LEVELS[(process.get(term.member, {}).get("isolation") or LEVELS[1]) != LEVELS[0]]
        before = [row for row in story.rows["reads"] if row["group"] == term.group and place_of(row) == term.place]
        seen = shown[level, *term.place] if found is not None else ()
        skipped = passed_over(seen, (found or 0, first["offset"]), first["at"], (None, first["leader_epoch"]))
        if found is None and min(row["at"] for row in before) < term.given:
            kind, severity = "uncommitted", "information"
        elif found is not None and (first["offset"] < found or skipped is not None):
            kind = "earlier" if first["offset"] < found else "later"
            passed = term.place in cover and cover[term.place].start > found
            left = kept(story, term.place, seen, first["at"])
            still = passed_over(left, (found, first["offset"]), first["at"], (None, first["leader_epoch"]))
            passed = passed and still is None and kind == "later"
            passed = passed and not before_deletion(story, term.place, found, first["at"])
            skipped = still if still is not None else skipped
            gone = excused(story, term.place, found - 1, later=first["at"])
            severity = "information" if passed else _excused(term.place[0], gone=gone)
        else:
            continue
        yield {
            "severity": severity, "kind": kind, **_term(term), "committed": found, "offset": first["offset"],
            "skipped": skipped,
        }  # fmt: skip


def _excused(topic: str, *, gone: bool) -> str:
    return "unproven" if topic == "compacted" else "allowed" if gone else "violation"


def _seeks(story: Story, term: Term) -> list[int]:
    return [r["at"] for r in story.rows["seeks"] if (member_of(r), place_of(r)) == (term.member, term.place)]


def _term(term: Term) -> Row:
    return {
        "probe": term.member[0], "incarnation": term.member[1], "group": term.group, "topic": term.place[0],
        "partition": term.place[1], "assignment": term.assignment,
    }  # fmt: skip


def _who(row: Row) -> Row:
    return {name: row[name] for name in ("probe", "incarnation", "topic", "partition")}
