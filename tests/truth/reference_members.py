"""What members of groups had when, and the rules about that (B8) in plain Python, from the definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from analysis.history import Row
from truth.logs import Place
from truth.story import Story, member_of, place_of

Name = tuple[tuple[str, int], Place, int]
"""Member, partition, assignment."""


@dataclass(slots=True)
class Term:
    """One assignment of a partition to a member."""

    member: tuple[str, int]
    place: Place
    assignment: int
    group: str | None
    given: int
    taken: int | None = None
    how: str | None = None
    answer: Row | None = None
    """What it was told of the committed offset: a row of ``fetched``."""
    reads: list[Row] = field(default_factory=list)
    """Its deliveries, in order."""

    @property
    def until(self) -> int:
        """When it ended: when it was taken away, or nobody wrote that down and it had its last delivery."""
        return self.taken if self.taken is not None else max(int(row["at"]) for row in self.reads)


def given_by(story: Story, commit: Row) -> int:
    """Until when what a member is given counts for a commit: asked for by itself, or answered while a poll went on."""
    if commit["kind"] != "auto":
        return int(commit["invoked"])
    mine = [row for row in story.rows["polls"] if member_of(row) == member_of(commit)]
    known = [row["completed"] or 0 for row in mine if row["invoked"] <= commit["completed"]]
    return int(max(commit["completed"], *known, 0))


def name_of(row: Row) -> Name:
    """The term that a row is of."""
    return member_of(row), place_of(row), row["assignment"]


def terms(story: Story) -> dict[Name, Term]:
    """All terms that were given, by name."""
    found: dict[Name, Term] = {}
    for row in sorted(story.rows["assignments"], key=lambda each: int(each["at"])):
        if row["kind"] == "assign" and name_of(row) not in found:
            found[name_of(row)] = Term(*name_of(row), row["group"], row["at"])
    for row in sorted(story.rows["assignments"], key=lambda each: int(each["at"])):
        term = found.get(name_of(row))
        if term and term.taken is None and row["kind"] != "assign":
            term.taken, term.how = row["at"], row["kind"]
    for row in sorted(story.rows["reads"], key=lambda each: int(each["n"])):
        if name_of(row) in found:
            found[name_of(row)].reads.append(row)
    _answered(story, found)
    return found


def _answered(story: Story, found: dict[Name, Term]) -> None:
    """Add what each member was told of the committed offset."""
    mine: dict[Any, list[Term]] = defaultdict(list)
    for term in found.values():
        mine[term.member, term.place].append(term)
    asked: dict[Any, list[Row]] = defaultdict(list)
    for row in story.rows["fetched"]:
        asked[member_of(row), place_of(row)].append(row)
    for key, several in mine.items():
        several.sort(key=lambda term: term.assignment)
        ends = [*(term.given for term in several[1:]), 2**63]
        for term, end in zip(several, ends, strict=True):
            answers = [row for row in asked[key] if term.given <= row["completed"] < end]
            term.answer = min(answers, key=lambda row: int(row["completed"]), default=None)


def double_ownership(story: Story) -> Iterator[Row]:
    """B8: the terms of two members overlap, and both were given something meanwhile."""
    held: dict[tuple[str, Place], list[Term]] = defaultdict(list)
    for term in terms(story).values():
        if term.group is not None and term.reads:
            held[term.group, term.place].append(term)
    for (group, place), several in held.items():
        for first, other in combinations(sorted(several, key=lambda term: (term.given, term.member)), 2):
            began, ended = other.given, min(first.until, other.until)
            counts = [sum(began < row["at"] <= ended for row in term.reads) for term in (first, other)]
            if first.member != other.member and began < ended and all(counts):
                yield {
                    "severity": _blame(story, first), "group": group, "topic": place[0], "partition": place[1],
                    "probe": first.member[0], "incarnation": first.member[1], "assignment": first.assignment,
                    "other": other.member[0], "other_incarnation": other.member[1],
                    "other_assignment": other.assignment, "how": first.how, "records": counts[0],
                    "other_records": counts[1], "seconds": (ended - began) / 1e9,
                }  # fmt: skip


def _blame(story: Story, term: Term) -> str:
    """Expelled members learn of it late; of one that ended nobody knows whether it was expelled before."""
    if term.how == "lost":
        return "information"
    alive = max((row["invoked"] for row in story.rows["polls"] if member_of(row) == term.member), default=0)
    return "unproven" if term.taken is None or alive < term.taken else "violation"


def consume_while_unassigned(story: Story) -> Iterator[Row]:
    """B8: a poll with records of a partition before it was given, or after it was taken."""
    held, killed = terms(story), story.killed()
    polls: dict[tuple[Name, int], list[Row]] = defaultdict(list)
    for row in story.rows["reads"]:
        polls[name_of(row), row["poll"]].append(row)
    for (name, poll), rows in polls.items():
        term = held.get(name)
        times = [row["at"] for row in rows]
        taken = term.taken if term else None
        if term is None or min(times) < term.given or (taken is not None and max(times) > taken):
            unwritten = term is None and name[2] >= 0 and name[0] in killed
            yield {
                "severity": "unproven" if unwritten else "violation", "probe": name[0][0], "incarnation": name[0][1],
                "group": rows[0]["group"], "topic": name[1][0], "partition": name[1][1], "assignment": name[2],
                "poll": poll, "offset": min(row["offset"] for row in rows), "records": len(rows),
                "given": term.given if term else None, "taken": taken,
            }  # fmt: skip
