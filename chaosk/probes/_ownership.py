"""Which partitions a consumer holds, how often it was given each of them, and in which rebalance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

Place = tuple[str, int]
"""Topic and partition."""

Kind = Literal["assign", "revoke", "lost"]


class Change(NamedTuple):
    """One partition given or taken."""

    kind: Kind
    topic: str
    partition: int
    assignment: int
    """How often this member was given this partition anew, from 0."""
    rebalance: int
    """Which rebalance of this incarnation, from 0."""


class Ownership:
    """The partitions held now, with the number of their assignment.

    A number goes up when a partition is given again after it was revoked or lost; a rebalance that keeps a partition
    (cooperative, or a manual assign of the same) leaves it alone. A rebalance begins with the first partition taken
    or given after the one before ended, and ends when partitions are given.
    """

    def __init__(self) -> None:
        self.held: dict[Place, int] = {}
        """By partition, the number of its assignment."""
        self._times: dict[Place, int] = {}
        self.rebalance = -1
        """Which rebalance of this incarnation is under way or was the last, from 0."""
        self._underway = False

    def given(self, places: Iterable[Place]) -> list[Change]:
        """Partitions were assigned; one that is held already keeps its number and is no change."""
        self._begin()
        self._underway = False
        changes = []
        for place in places:
            if place not in self.held:
                self.held[place] = number = self._times.get(place, -1) + 1
                self._times[place] = number
                changes.append(Change("assign", *place, number, self.rebalance))
        return changes

    def taken(self, places: Iterable[Place], kind: Kind) -> list[Change]:
        """Partitions were revoked or lost; one that is not held is no change."""
        self._begin()
        held = [place for place in places if place in self.held]
        return [Change(kind, *place, self.held.pop(place), self.rebalance) for place in held]

    def latest(self, place: Place) -> int | None:
        """The number of the partition's assignment that holds or was the last; None if it was never given."""
        return self._times.get(place)

    def first_time(self, place: Place) -> bool:
        """Whether the partition was given to this incarnation once only."""
        return self._times.get(place, 0) == 0

    def _begin(self) -> None:
        if not self._underway:
            self.rebalance += 1
            self._underway = True
