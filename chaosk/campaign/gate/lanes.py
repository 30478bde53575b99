"""Which lane of a gate runs which attempt: clusters side by side, all fed from one queue. Pure.

A lane has one run at a time, on the cluster of an inventory, or on labs that are put up for it. What one lane refuses
(preflight failed, or its lab could not be put up) another one is asked for: so a cluster that is down does not eat the
queue, and a scenario that fits none is refused as it would be alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chaosk.campaign.gate.record import Attempt, Gate

SUSPECT = 2
"""Of a lane that has refused so many of which no other has said yet what it makes of them, nothing new is asked."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane, and what it is at."""

    number: int
    """Counted from 1."""
    inventory: str | None = None
    """The file of its cluster; None for labs on this machine."""
    lab: str | None = None
    """The lab that it has up, by the name that attempts have for it; None before its first."""
    at: int | None = None
    """The place of the attempt that it runs."""
    refused: frozenset[int] = frozenset()
    """Places of attempts that it could not begin, and for which another lane is to be asked."""
    out: bool = False
    """It gets no more runs: what it refused, another one ran."""

    def name_of(self, lab: str) -> str:
        """What a lab is called in this lane: labs of one shape in two lanes are two labs."""
        return lab if self.number == 1 else f"{lab}-{self.number}"

    @property
    def label(self) -> str:
        """The lane before a line of what it does."""
        return f"[{self.number}] "


Lanes = tuple[Lane, ...]


def lanes_of(gate: Gate) -> Lanes:
    """The lanes of a gate, before any of them has begun anything."""
    clusters = gate.clusters or (None,) * gate.side_by_side
    return tuple(Lane(number, inventory) for number, inventory in enumerate(clusters, 1))


def next_place(lane: Lane, lanes: Lanes, attempts: Sequence[Attempt]) -> int | None:
    """The attempt that a free lane runs next, by its place; None if there is none for it now.

    First what another lane refused, so that it is soon known which of them is to blame. Then what needs the lab that
    the lane has up; then what needs one that no lane has up; then it puts up one more lab of the shape for which most
    is to be run: that takes seconds, and a run a minute or two. What is to be run alone comes last, so that lanes wait
    for each other only once.
    """
    if lane.out or lane.at is not None:
        return None
    waiting = [place for place in _ready(lanes, attempts) if place not in lane.refused]
    for place in waiting:
        if any(place in other.refused for other in lanes):
            return place
    if len(lane.refused) >= SUSPECT:
        return None
    return _nearest(lane, lanes, waiting, attempts)


def left(lanes: Lanes, attempts: Sequence[Attempt]) -> list[int]:
    """The places of attempts that are neither done nor under way."""
    under_way = {lane.at for lane in lanes}
    return [place for place, one in enumerate(attempts) if one.state != "done" and place not in under_way]


def begun(lanes: Lanes, number: int, place: int, attempt: Attempt) -> Lanes:
    """The lanes once that one runs the attempt at a place, on its lab; beside one that is alone no lab stays up."""
    return tuple(
        replace(lane, at=place, lab=attempt.lab)
        if lane.number == number
        else replace(lane, lab=None if attempt.alone else lane.lab)
        for lane in lanes
    )


def leaving(lane: Lane, lanes: Lanes, attempt: Attempt) -> list[str]:
    """The labs, by their names, that a lane takes down before it runs the attempt."""
    beside = lanes if attempt.alone else (lane,)
    return [
        each.name_of(each.lab)
        for each in beside
        if each.lab is not None and (each.number, each.lab) != (lane.number, attempt.lab)
    ]


def over(lanes: Lanes, number: int, *, refused: bool) -> tuple[Lanes, bool]:
    """The lanes once that one's run has ended, and whether this counts.

    A refusal does not as long as another lane can be asked. A lane that refused what another one then ran is out.
    """
    (lane,) = (each for each in lanes if each.number == number)
    place = -1 if lane.at is None else lane.at
    if refused and any(_can_try(other, place) for other in lanes if other.number != number):
        there = replace(lane, at=None, refused=lane.refused | {place})
        return _tidy(tuple(there if each.number == number else each for each in lanes)), False
    told = tuple(
        replace(
            each,
            at=None if each.number == number else each.at,
            out=each.out or (not refused and place in each.refused),
            refused=each.refused - {place},
        )
        for each in lanes
    )
    return _tidy(told), True


def _ready(lanes: Lanes, attempts: Sequence[Attempt]) -> list[int]:
    """What is left and can be begun beside what is under way."""
    waiting = left(lanes, attempts)
    if len(lanes) == 1:
        return waiting
    under_way = [attempts[lane.at] for lane in lanes if lane.at is not None]
    if any(one.alone for one in under_way):
        return []
    together = [place for place in waiting if not attempts[place].alone]
    return together if together or under_way else waiting


def _nearest(lane: Lane, lanes: Lanes, waiting: Sequence[int], attempts: Sequence[Attempt]) -> int | None:
    by_lab: dict[str | None, list[int]] = {}
    for place in waiting:
        by_lab.setdefault(attempts[place].lab, []).append(place)
    if not by_lab:
        return None
    if lane.lab in by_lab:
        return by_lab[lane.lab][0]
    have = Counter(other.lab for other in lanes if other.number != lane.number and not other.out)
    return min(by_lab.items(), key=lambda item: -len(item[1]) / have[item[0]] if have[item[0]] else -float("inf"))[1][0]


def _can_try(lane: Lane, place: int) -> bool:
    return not lane.out and place not in lane.refused


def _tidy(lanes: Lanes) -> Lanes:
    """Without refusals of which nobody is left to be asked: who is out has none, and the last one asks again itself."""
    return tuple(
        replace(
            lane,
            refused=frozenset(
                place
                for place in lane.refused
                if not lane.out and any(_can_try(other, place) for other in lanes if other is not lane)
            ),
        )
        for lane in lanes
    )
