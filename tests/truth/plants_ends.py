"""Plants in what ought to go on: consumers that stop for good, and transactions that nobody ends."""

from __future__ import annotations

from random import Random

from analysis.history import Row, ns
from truth.logs import Place
from truth.reference_ends import stuck_lso
from truth.reference_members import Term, terms
from truth.sightings import attempts, written
from truth.story import END, RUN_ENDED, Story, member_of, named, place_of, value_of


def stuck(story: Story, draw: Random) -> bool:
    """B9: a reader without a group is given nothing any more of a partition, although records wait there."""
    term = _lasting(story, draw)
    if term is None:
        return False
    gone = _tail(story, draw, term)
    for row in gone:
        story.rows["reads"].remove(row)
    owed, sends = written(story), attempts(story)
    waiting = [sends[value] for value in map(value_of, gone) if value in owed]
    ended = {None, *(row["txn"] for row in story.rows["transactions"])}
    if any(row["txn"] in ended for row in waiting):  # else nobody knows since when they wait
        story.expect("stuck_consumer", "violation", term.member[0], *term.place, *term.member)
    return True


def hung(story: Story, draw: Random) -> bool:
    """B10: what a leader tells of its last stable offset stays from some moment on, and its log goes on growing."""
    place = _growing(story, draw)
    if place is None:
        return False
    _hold(story, draw, place, ns(END + 2))
    for row in stuck_lso(story):
        if place_of(row) == place:
            story.expect("stuck_lso", "violation", *place, row["last_stable"])
    return True


# --- near misses ------------------------------------------------------------------------------------------------------


def near_late(story: Story, draw: Random) -> bool:
    """A reader is silent for long, and gets everything just before the end."""
    term = _lasting(story, draw)
    if term is None:
        return False
    for number, row in enumerate(_tail(story, draw, term)):
        row["at"] = max(int(row["at"]), ns(END - 1) + number)
    return True


def near_held_for_a_while(story: Story, draw: Random) -> bool:
    """A last stable offset stays for half a minute; then the transaction is over."""
    place = _growing(story, draw)
    if place is None:
        return False
    _hold(story, draw, place, ns(35))
    return True


PLANTS = (stuck, hung, near_late, near_held_for_a_while)


# --- what they share --------------------------------------------------------------------------------------------------


def _lasting(story: Story, draw: Random) -> Term | None:
    """A reader's partition that it has until the end, claimed, if it never sought and was given several records."""
    killed, sought = story.killed(), {seek["probe"] for seek in story.rows["seeks"]}
    found = [
        term
        for term in terms(story).values()
        if term.group is None and term.member not in killed and term.member[0] not in sought
        and (term.taken is None or term.taken >= RUN_ENDED) and term.place in story.free and _early(term) > 1
    ]  # fmt: skip
    if not found:
        return None
    term = draw.choice(found)
    story.free.remove(term.place)
    return term


def _tail(story: Story, draw: Random, term: Term) -> list[Row]:
    """The last deliveries of a partition; from somewhere on, at least one and not all, and none long after."""
    mine = [r for r in story.rows["reads"] if member_of(r) == term.member and place_of(r) == term.place]
    mine.sort(key=lambda row: int(row["n"]))
    return mine[draw.randrange(1, _early(term)) :]


def _early(term: Term) -> int:
    """Deliveries while records were still being sent."""
    return sum(row["at"] < ns(20) for row in term.reads)


def _growing(story: Story, draw: Random) -> Place | None:
    """A free partition, taken from then on, whose log grew between two samples late in the run."""
    found = []
    for place in story.free:
        ends = [row["high_watermark"] for row in _late(story, place)]
        if ends and ends[-1] > ends[0] > 0:
            found.append(place)
    if not found:
        return None
    place = draw.choice(found)
    story.free.remove(place)
    return place


def _late(story: Story, place: Place) -> list[Row]:
    """The samples of a leader from 10 s on, in order."""
    rows = [row for row in story.all("offsets", **named(place), leader=True) if row["at"] >= ns(10)]
    return sorted(rows, key=lambda row: int(row["at"]))


def _hold(story: Story, draw: Random, place: Place, until: int) -> None:
    """Let the last stable offset stay from a sample on, after which the log still grows."""
    rows = _late(story, place)
    first = draw.choice([row for row in rows if row["high_watermark"] < rows[-1]["high_watermark"]])
    stable = draw.randrange(first["high_watermark"]) if first["high_watermark"] > 1 else 0
    for row in rows:
        if first["at"] <= row["at"] <= until and row["high_watermark"] > stable:
            row["last_stable"] = stable
