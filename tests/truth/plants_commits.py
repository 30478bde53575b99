"""Plants in what members of groups had and committed: offsets that go back or ahead, two members with one partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise, zip_longest
from random import Random

from analysis.history import Row
from truth.planting import jumped, steady
from truth.reference_members import Term, given_by, name_of, terms
from truth.reference_reading import owned
from truth.story import Story, member_of, place_of


def commit_forgotten(story: Story, draw: Random) -> bool:
    """B6: a member finds an older offset than was acknowledged, or none; it reads on where it would have (B7)."""
    found = []
    for term in _free(story):
        done = _promised(story, term)
        clean = term.answer and done and _reads_first(story, term) and steady(story, term.reads[0])
        carried = {row["offset"] for row in commits_of(story, term)}
        older = [None, *(o for o in range(max(row["offset"] for row in done) if done else 0) if o not in carried)]
        if clean:
            found.append((term, older))
    if not found:
        return False
    term, older = draw.choice(found)
    assert term.answer is not None
    story.free.remove(term.place)
    term.answer["offset"] = draw.choice(older)
    story.expect("commit_regression", "violation", "lost_commit", *key_of(term), term.answer["offset"])
    jumped(story, term)
    return True


def committed_less(story: Story, draw: Random) -> bool:
    """B6: a member commits less than it has committed before, and did not go back."""
    found = []
    for term in _free(story):
        done = [row for row in commits_of(story, term) if row["outcome"] == "ok" and name_of(row) == name_of_term(term)]
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
    story.expect("commit_regression", "violation", "self", *key_of(term), row["offset"])
    return True


def committed_by_another(story: Story, draw: Random) -> bool:
    """B6: a member commits a partition after another one was given it."""
    found = []
    for first, other in handed_on(story):
        mine = [r for r in commits_of(story, first) if r["outcome"] == "ok" and name_of(r) == name_of_term(first)]
        mine = [row for row in mine if row["invoked"] >= first.given]
        if mine and _settled(story, first, other.given + 200_000_000):
            found.append((first, other, max(mine, key=lambda row: int(row["offset"]))))
    if not found:
        return False
    first, other, row = draw.choice(found)
    story.free.remove(first.place)
    at = other.given + 200_000_000
    story.rows["commits"].append(row | {"invoked": at, "completed": at + 2_000_000, "kind": "sync"})
    story.expect("commit_regression", "violation", "zombie", *key_of(first), row["offset"])
    return True


def committed_ahead(story: Story, draw: Random) -> bool:
    """B5: a member commits past records that it is given only after that; open if it was killed later on."""
    found = []
    for term in _free(story):
        done = [row for row in commits_of(story, term) if row["outcome"] == "ok" and name_of(row) == name_of_term(term)]
        done = sorted((row for row in done if row["invoked"] >= term.given), key=_invoked)
        for row, later in zip_longest(done, done[1:]):
            by = given_by(story, row)
            had = [r["offset"] for r in story.rows["reads"] if _whose(r) == name_of_term(term)[:2] and r["at"] <= by]
            begun = had or (term.answer and term.answer["offset"] is not None)  # else nobody knows where it began
            ahead = [r["offset"] for r in term.reads if begun and r["offset"] > max(had, default=-1)]
            ahead = [offset for offset in ahead if later is None or offset < later["offset"]]
            if ahead and steady(story, row) and _settled(story, term, row["invoked"]):
                found.append((term, row, ahead))
    if not found:
        return False
    term, row, ahead = draw.choice(found)
    story.free.remove(term.place)
    row["offset"] = draw.choice(ahead) + 1
    severity = "unproven" if term.member in story.killed() else "violation"
    story.expect("commit_ahead", severity, *term.member, *term.place, row["offset"])
    return True


# --- near misses ------------------------------------------------------------------------------------------------------


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


PLANTS = (commit_forgotten, committed_less, committed_by_another, committed_ahead, near_commit_in_doubt)


# --- what they share --------------------------------------------------------------------------------------------------


def _free(story: Story) -> list[Term]:
    """The terms of groups in free partitions, by time."""
    found = [term for term in terms(story).values() if term.group is not None and term.place in story.free]
    return sorted(found, key=lambda term: (term.given, term.member, term.place))


def handed_on(story: Story) -> Iterator[tuple[Term, Term]]:
    """Terms with the next one of the same partition, where that is another member's."""
    by_owner: dict[tuple[str | None, str, int], list[Term]] = defaultdict(list)
    for term in _free(story):
        by_owner[term.group, *term.place].append(term)
    for several in by_owner.values():
        for first, other in pairwise(several):
            if first.member != other.member and steady(story, {"group": first.group, "probe": ""}):
                yield first, other


def _reads_first(story: Story, term: Term) -> bool:
    """Whether a member commits nothing in a term before it was given anything."""
    done = [row for row in commits_of(story, term) if name_of(row) == name_of_term(term) and row["outcome"] == "ok"]
    asked = [row["completed"] if row["kind"] == "auto" else row["invoked"] for row in done]
    return bool(term.reads) and all(at >= term.reads[0]["at"] for at in asked)


def _promised(story: Story, term: Term) -> list[Row]:
    """The commits that were acknowledged before a member asked."""
    asked = term.answer["invoked"] if term.answer else 0
    return [row for row in commits_of(story, term) if row["outcome"] == "ok" and row["completed"] < asked]


def _settled(story: Story, term: Term, at: int) -> bool:
    """Whether nobody asks for the group's committed offset from a moment on."""
    mine = [row for row in story.rows["fetched"] if owned(row) == (term.group, *term.place)]
    return all(row["completed"] < at for row in mine)


def commits_of(story: Story, term: Term) -> list[Row]:
    """The commits of the group that a term is of."""
    return [row for row in story.rows["commits"] if owned(row) == (term.group, *term.place)]


def _whose(row: Row) -> tuple[tuple[str, int], tuple[str, int]]:
    return member_of(row), place_of(row)


def name_of_term(term: Term) -> tuple[tuple[str, int], tuple[str, int], int]:
    """As ``name_of`` names it."""
    return term.member, term.place, term.assignment


def key_of(term: Term) -> tuple[object, ...]:
    """What tells commits in it from others."""
    return (*term.member, term.group, *term.place, term.assignment)


def _invoked(row: Row) -> int:
    return int(row["invoked"])
