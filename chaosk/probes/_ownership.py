"""The partitions of a consumer, with the numbers of their assignments and rebalances."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

Place = tuple[str, int]
"""Topic and partition."""

Kind = Literal["assign", "revoke", "lost"]


class AssignmentChange(NamedTuple):
    """One assigned or removed partition."""

    kind: Kind
    topic: str
    partition: int
    assignment: int
    """Number of this member's assignment of this partition, from 0."""
    rebalance: int
    """Number of the rebalance within this incarnation, from 0."""


class Ownership:
    """The partitions held now, with the number of their assignment.

    A number grows when a partition is assigned again after it was revoked or lost. A rebalance that keeps a partition
    (cooperative, or a manual assign of the same) does not change it. A rebalance starts with the first partition
    removed or assigned after the previous one ended, and ends when partitions are assigned.
    """

    def __init__(self) -> None:
        self.held: dict[Place, int] = {}
        """The number of the assignment, by partition."""
        self._times: dict[Place, int] = {}
        self.rebalance = -1
        """Number of the current or last rebalance of this incarnation, from 0."""
        self._underway = False

    def given(self, places: Iterable[Place]) -> list[AssignmentChange]:
        """Note assigned partitions; one that is already held keeps its number and is not a change."""
        self._begin()
        self._underway = False
        changes = []
        for place in places:
            if place not in self.held:
                self.held[place] = number = self._times.get(place, -1) + 1
                self._times[place] = number
                changes.append(AssignmentChange("assign", *place, number, self.rebalance))
        return changes

    def taken(self, places: Iterable[Place], kind: Kind) -> list[AssignmentChange]:
        """Note revoked or lost partitions; one that is not held is not a change."""
        self._begin()
        held = [place for place in places if place in self.held]
        return [AssignmentChange(kind, *place, self.held.pop(place), self.rebalance) for place in held]

    def latest(self, place: Place) -> int | None:
        """Return the number of the partition's current or last assignment; None without one."""
        return self._times.get(place)

    def first_time(self, place: Place) -> bool:
        """Return True if the partition was assigned to this incarnation only once."""
        return self._times.get(place, 0) == 0

    def _begin(self) -> None:
        if not self._underway:
            self.rebalance += 1
            self._underway = True
