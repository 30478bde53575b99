"""Plants in what members of groups had and committed: offsets that go back or ahead, two members with one partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from analysis.history import Row
from truth.planting import jumped, steady
from truth.reference_members import Term, name_of, terms
from truth.reference_reading import owned
from truth.story import Story, member_of, place_of


def commit_forgotten(story: Story, draw: Random) -> bool:
    """B6: a member finds an older offset than was acknowledged, or none; it reads on where it would have (B7)."""
    found = []
    for term in _free(story):
        done = _promised(story, term)
        clean = term.answer and done and _reads_first(story, term) and steady(story, term.reads[0])
        carried = {row["offset"] for row in _commits(story, term)}
        older = [None, *(o for o in range(max(row["offset"] for row in done) if done else 0) if o not in carried)]
        if clean:
            found.append((term, older))
    if not found:
        return False
    term, older = draw.choice(found)
    assert term.answer is not None
    story.free.remove(term.place)
    term.answer["offset"] = draw.choice(older)
    story.expect("commit_regression", "violation", "lost_commit", *_key(term), term.answer["offset"])
    jumped(story, term)
    return True


def committed_less(story: Story, draw: Random) -> bool:
    """B6: a member commits less than it has committed before, and did not go back."""
    found = []
    for term in _free(story):
        done = [row for row in _commits(story, term) if row["outcome"] == "ok" and name_of(row) == _name(term)]
        done = [row for row in sorted(done, key=_invoked) if row["invoked"] >= term.given]
        for number, row in enumerate(done):
            before = [r["offset"] for r in done[:number] if r["kind"] != "auto" or r is not done[0]]
            if before and max(before) > 0 and steady(story, row) and _settled(story, term, row["invoked"]):
                found.append((term, row, max(before)))
    if not found:
        return False
    term, row, highest = draw.choice(found)
    story.free.remove(term.place)
    row["offset"] = draw.randrange(highest)
    story.expect("commit_regression", "violation", "self", *_key(term), row["offset"])
    return True


def committed_by_another(story: Story, draw: Random) -> bool:
    """B6: a member commits a partition after another one was given it."""
    found = []
    for first, other in _handed_on(story):
        mine = [r for r in _commits(story, first) if r["outcome"] == "ok" and name_of(r) == _name(first)]
        mine = [row for row in mine if row["invoked"] >= first.given]
        if mine and _settled(story, first, other.given + 200_000_000):
            found.append((first, other, max(mine, key=lambda row: int(row["offset"]))))
    if not found:
        return False
    first, other, row = draw.choice(found)
    story.free.remove(first.place)
    at = other.given + 200_000_000
    story.rows["commits"].append(row | {"invoked": at, "completed": at + 2_000_000, "kind": "sync"})
    story.expect("commit_regression", "violation", "zombie", *_key(first), row["offset"])
    return True


def committed_ahead(story: Story, draw: Random) -> bool:
    """B5: a member commits past records that it was never given; open if it was killed."""
    found = []
    for term in _free(story):
        done = [row for row in _commits(story, term) if row["outcome"] == "ok" and name_of(row) == _name(term)]
        last = max(done, key=_invoked, default=None)
        if last is None or not steady(story, last) or not _settled(story, term, last["invoked"]):
            continue
        known = [
            r["offset"] for name in ("reads", "fetched") for r in _of(story, name, term) if r["offset"] is not None
        ]
        level = story.isolation(term.member)
        offsets = [r["offset"] for r in story.all("audit", isolation=level) if place_of(r) == term.place]
        beyond = [offset for offset in offsets if offset > max(known, default=2**62)]
        if beyond:
            found.append((term, last, beyond))
    if not found:
        return False
    term, last, beyond = draw.choice(found)
    story.free.remove(term.place)
    last["offset"] = draw.choice(beyond) + 1
    severity = "unproven" if term.member in story.killed() else "violation"
    story.expect("commit_ahead", severity, *term.member, *term.place, last["offset"])
    return True


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
        if name_of(row) == _name(first[0]) and row["kind"] == "revoke":
            row["kind"] = "lost"
    return True


def near_read_at_revoke(story: Story, draw: Random) -> bool:
    """A member's last delivery comes at the very moment at which the partition is taken from it."""
    return _revoke(story, draw, 0)


def near_commit_in_doubt(story: Story, draw: Random) -> bool:
    """A member finds what a commit of unknown fate carried, which was asked for before: it may have come last."""
    found = []
    for term in _free(story):
        done = _promised(story, term)
        if term.answer and done and _reads_first(story, term) and steady(story, term.reads[0]):
            found.append((term, max(done, key=lambda row: int(row["offset"]))))
    found = [(term, row) for term, row in found if row["offset"] > 0 and term.answer]
    if not found:
        return False
    term, row = draw.choice(found)
    assert term.answer is not None
    story.free.remove(term.place)
    term.answer["offset"] = draw.randrange(row["offset"])
    unknown = {"outcome": "info", "offset": term.answer["offset"], "error": "_TIMED_OUT", "kind": "sync"}
    story.rows["commits"].append(row | unknown)
    jumped(story, term)
    return True


PLANTS = (
    commit_forgotten, committed_less, committed_by_another, committed_ahead, held_by_two, read_after_revoke,
    near_expelled, near_read_at_revoke, near_commit_in_doubt,
)  # fmt: skip


# --- what they share --------------------------------------------------------------------------------------------------


def _free(story: Story) -> list[Term]:
    """The terms of groups in free partitions, by time."""
    found = [term for term in terms(story).values() if term.group is not None and term.place in story.free]
    return sorted(found, key=lambda term: (term.given, term.member, term.place))


def _handed_on(story: Story) -> Iterator[tuple[Term, Term]]:
    """Terms with the next one of the same partition, where that is another member's."""
    by_owner: dict[tuple[str | None, str, int], list[Term]] = defaultdict(list)
    for term in _free(story):
        by_owner[term.group, *term.place].append(term)
    for several in by_owner.values():
        for first, other in pairwise(several):
            if first.member != other.member and steady(story, {"group": first.group, "probe": ""}):
                yield first, other


def _hold_both(story: Story, draw: Random) -> tuple[Term, Term] | None:
    """Have two terms overlap, from before the first one's last delivery until after the second one's first."""
    found = [
        (first, other)
        for first, other in _handed_on(story)
        if first.taken and first.how == "revoke" and first.reads and other.reads
        if other.until > other.reads[0]["at"] and first.reads[-1]["at"] > first.given + 9
    ]
    if not found:
        return None
    first, other = draw.choice(found)
    story.free.remove(first.place)
    given, taken = first.reads[-1]["at"] - 5, other.reads[0]["at"] + 1
    for row in story.rows["assignments"]:
        if name_of(row) == _name(other) and row["kind"] == "assign":
            row["at"] = given
        if name_of(row) == _name(first) and row["kind"] != "assign":
            row["at"] = taken
    first.taken = taken
    for row in _commits(story, first):
        late = name_of(row) == _name(first) and row["invoked"] > given and row["kind"] != "auto"
        if late and row["outcome"] == "ok":
            story.expect("commit_regression", "violation", "zombie", *_key(first), row["offset"])
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
        if name_of(row) == _name(term) and row["kind"] != "assign":
            row["at"] = term.reads[-1]["at"] - early
    if early:
        story.expect("consume_while_unassigned", "violation", *term.member, *term.place, term.reads[-1]["poll"])
    return True


def _reads_first(story: Story, term: Term) -> bool:
    """Whether a member commits nothing in a term before it was given anything."""
    done = [row for row in _commits(story, term) if name_of(row) == _name(term) and row["outcome"] == "ok"]
    asked = [row["completed"] if row["kind"] == "auto" else row["invoked"] for row in done]
    return bool(term.reads) and all(at >= term.reads[0]["at"] for at in asked)


def _promised(story: Story, term: Term) -> list[Row]:
    """The commits that were acknowledged before a member asked."""
    asked = term.answer["invoked"] if term.answer else 0
    return [row for row in _commits(story, term) if row["outcome"] == "ok" and row["completed"] < asked]


def _settled(story: Story, term: Term, at: int) -> bool:
    """Whether nobody asks for the group's committed offset from a moment on."""
    mine = [row for row in story.rows["fetched"] if owned(row) == (term.group, *term.place)]
    return all(row["completed"] < at for row in mine)


def _commits(story: Story, term: Term) -> list[Row]:
    return [row for row in story.rows["commits"] if owned(row) == (term.group, *term.place)]


def _of(story: Story, table: str, term: Term) -> list[Row]:
    return [r for r in story.rows[table] if (member_of(r), place_of(r)) == (term.member, term.place)]


def _name(term: Term) -> tuple[tuple[str, int], tuple[str, int], int]:
    return term.member, term.place, term.assignment


def _key(term: Term) -> tuple[object, ...]:
    return (*term.member, term.group, *term.place, term.assignment)


def _pair(first: Term, other: Term) -> tuple[object, ...]:
    return (first.group, *first.place, *first.member, first.assignment, *other.member, other.assignment)


def _invoked(row: Row) -> int:
    return int(row["invoked"])
