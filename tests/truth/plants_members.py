"""Plants in what members of groups held: two with one partition, and deliveries of one that was taken away."""

from __future__ import annotations

from random import Random

from truth.plants_commits import commits_of, handed_on, key_of, name_of_term
from truth.reference_members import Term, name_of, terms
from truth.story import Story, member_of


def held_by_two(story: Story, draw: Random) -> bool:
    """B8: a member is given a partition before the one before it has given it up; so that one commits late (B6)."""
    first = _hold_both(story, draw)
    if first is None:
        return False
    polls = [row["invoked"] for row in story.rows["polls"] if member_of(row) == first[0].member]
    severity = "violation" if max(polls) >= (first[0].taken or 0) else "unproven"
    story.expect("double_ownership", severity, *_pair(*first))
    return True


def read_after_revoke(story: Story, draw: Random) -> bool:
    """B8: a member is given records of a partition that it does not have any more."""
    return _revoke(story, draw, 1)


# --- near misses ------------------------------------------------------------------------------------------------------


def near_expelled(story: Story, draw: Random) -> bool:
    """A member learns late that the group has expelled it, and reads on until then."""
    first = _hold_both(story, draw)
    if first is None:
        return False
    for row in story.rows["assignments"]:
        if name_of(row) == name_of_term(first[0]) and row["kind"] == "revoke":
            row["kind"] = "lost"
    return True


def near_read_at_revoke(story: Story, draw: Random) -> bool:
    """A member's last delivery comes at the very moment at which the partition is taken from it."""
    return _revoke(story, draw, 0)


PLANTS = (held_by_two, read_after_revoke, near_expelled, near_read_at_revoke)


# --- what they share --------------------------------------------------------------------------------------------------


def _hold_both(story: Story, draw: Random) -> tuple[Term, Term] | None:
    """Have two terms overlap, from before the first one's last delivery until after the second one's first."""
    found = [
        (first, other)
        for first, other in handed_on(story)
        if first.taken and first.how == "revoke" and first.reads and other.reads
        if other.until > other.reads[0]["at"] and first.reads[-1]["at"] > first.given + 9
    ]
    if not found:
        return None
    first, other = draw.choice(found)
    story.free.remove(first.place)
    given, taken = first.reads[-1]["at"] - 5, other.reads[0]["at"] + 1
    for row in story.rows["assignments"]:
        if name_of(row) == name_of_term(other) and row["kind"] == "assign":
            row["at"] = given
        if name_of(row) == name_of_term(first) and row["kind"] != "assign":
            row["at"] = taken
    first.taken = taken
    for row in commits_of(story, first):
        late = name_of(row) == name_of_term(first) and row["invoked"] > given and row["kind"] != "auto"
        if late and row["outcome"] == "ok":
            story.expect("commit_regression", "violation", "zombie", *key_of(first), row["offset"])
    return first, other


def _revoke(story: Story, draw: Random, early: int) -> bool:
    """Have a partition be taken from a member so many nanoseconds before its last delivery."""
    held = [term for term in terms(story).values() if term.place in story.free and term.taken and term.reads]
    held = [term for term in held if len({row["at"] for row in term.reads}) == len(term.reads)]
    if not held:
        return False
    term = draw.choice(sorted(held, key=lambda term: (term.given, term.member, term.place)))
    story.free.remove(term.place)
    for row in story.rows["assignments"]:
        if name_of(row) == name_of_term(term) and row["kind"] != "assign":
            row["at"] = term.reads[-1]["at"] - early
    if early:
        story.expect("consume_while_unassigned", "violation", *term.member, *term.place, term.reads[-1]["poll"])
    return True


def _pair(first: Term, other: Term) -> tuple[object, ...]:
    return (first.group, *first.place, *first.member, first.assignment, *other.member, other.assignment)
