"""Assignment of a gate's attempts to lanes: clusters side by side, all fed from one queue. Pure.

A lane has one run at a time, on the cluster of an inventory, or on labs that are started for it. An attempt that one
lane refuses (preflight failed, or its lab could not be started) is offered to another one. So a cluster that is down
does not use up the queue, and a scenario that no cluster can run is refused as with one lane.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chaosk.campaign.gate.record import Attempt, Gate

SUSPECT = 2
"""Number of refusals, not yet tried in another lane, after which a lane gets no new attempts."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane and its state."""

    number: int
    """Counted from 1."""
    inventory: str | None = None
    """The file of its cluster; None for labs on this machine."""
    lab: str | None = None
    """Its running lab, by the name that attempts use; None before its first."""
    at: int | None = None
    """Index of the attempt that it runs; None if it is free."""
    refused: frozenset[int] = frozenset()
    """Indices of attempts that it refused, and that another lane is to try."""
    out: bool = False
    """True if it gets no more runs, since another lane ran an attempt that it refused."""

    def name_of(self, lab: str) -> str:
        """Return the name of a lab in this lane: labs of one shape in two lanes are two labs."""
        return lab if self.number == 1 else f"{lab}-{self.number}"

    @property
    def label(self) -> str:
        """Prefix of the lane's output lines."""
        return f"[{self.number}] "


Lanes = tuple[Lane, ...]


def lanes_of(gate: Gate) -> Lanes:
    """Return the lanes of a gate, all of them free."""
    clusters = gate.clusters or (None,) * gate.side_by_side
    return tuple(Lane(number, inventory) for number, inventory in enumerate(clusters, 1))


def next_place(lane: Lane, lanes: Lanes, attempts: Sequence[Attempt]) -> int | None:
    """Return the index of the attempt that a free lane runs next; None if there is none for it now.

    Attempts that another lane refused come first, to find out soon if the lane or the attempt is at fault. Next come
    attempts for the lab that the lane has running, and then for a lab that no lane has running. Otherwise the lane
    starts one more lab of the shape with most attempts left: that takes seconds, and a run a minute or two. Attempts
    that must run alone come last, so that the lanes wait for each other only once.
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
    """Return the indices of attempts that are neither done nor running."""
    under_way = {lane.at for lane in lanes}
    return [place for place, one in enumerate(attempts) if one.state != "done" and place not in under_way]


def begun(lanes: Lanes, number: int, place: int, attempt: Attempt) -> Lanes:
    """Return the lanes after one has started an attempt on its lab; an attempt that runs alone ends all other labs."""
    return tuple(
        replace(lane, at=place, lab=attempt.lab)
        if lane.number == number
        else replace(lane, lab=None if attempt.alone else lane.lab)
        for lane in lanes
    )


def leaving(lane: Lane, lanes: Lanes, attempt: Attempt) -> list[str]:
    """Return the names of the labs that a lane takes down before it runs the attempt."""
    beside = lanes if attempt.alone else (lane,)
    return [
        each.name_of(each.lab)
        for each in beside
        if each.lab is not None and (each.number, each.lab) != (lane.number, attempt.lab)
    ]


def over(lanes: Lanes, number: int, *, refused: bool) -> tuple[Lanes, bool]:
    """Return the lanes after the run of one has ended, and whether this run counts.

    A refusal does not count as long as another lane can try the attempt. A lane that refused an attempt is out once
    another one has run it.
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
    """Return the indices of attempts that can start beside the running ones."""
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
    """Remove refusals that no other lane can try: a lane that is out has none, the last one tries its own again."""
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
