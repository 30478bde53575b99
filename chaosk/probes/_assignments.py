"""Changes of a consumer's partitions as rows of ``assignments``, and the joins that result."""

from __future__ import annotations

import time
from collections.abc import Iterable

from chaosk.probes._joins import JoinTimer
from chaosk.probes._ownership import AssignmentChange, Kind, Ownership, Place
from chaosk.spec.contracts.probe import EventLog


class Assignments:
    """Writes the changes of one incarnation."""

    def __init__(
        self, log: EventLog, who: tuple[str, int], group: str | None, held: Ownership, positions: dict[Place, int]
    ) -> None:
        """``held`` and ``positions`` (next offset by partition) are kept up to date."""
        self._log, self._who, self._group = log, who, group
        self._held, self._positions = held, positions
        self.joins = JoinTimer(log, who, group)

    def chosen(self, places: list[Place]) -> None:
        """Record that the consumer takes partitions of its own choice."""
        self._changed(self._held.given(places))

    def given(self, places: list[Place]) -> None:
        """Record that the group assigned partitions."""
        self._changed(self._held.given(places))
        if places:
            self.joins.given(self._held.rebalance, len(places))

    def taken(self, places: list[Place], kind: Kind) -> None:
        """Record that partitions were revoked or lost, or given up."""
        self._changed(self._held.taken(places, kind))

    def _changed(self, changes: Iterable[AssignmentChange]) -> None:
        at = time.monotonic_ns()
        for change in changes:
            place = (change.topic, change.partition)
            numbers = (change.assignment, change.rebalance)
            self._log.write("assignments", (*self._who, self._group, at, change.kind, *place, *numbers))
            if change.kind != "assign":
                self._positions.pop(place, None)
