"""How long a member of a group takes until it reads: its way there in stages, one row of ``joins`` for each rebalance.

Joining and syncing are one stage here: librdkafka documents no means to tell them apart. Its statistics name the state
of the join as it is at that moment, without its age, and its debug lines are no interface. Of the state of the group's
coordinator they do tell the age, so the moment from which it was there is known, whenever they come.
"""

from __future__ import annotations

import json
import time

from chaosk.spec.contracts.probe import EventLog

EVERY_MS = 500
"""How often librdkafka tells its statistics."""

_PATIENCE = 2_000_000_000  # nanoseconds after the first record that the statistics are waited for
_now = time.monotonic_ns


class Joins:
    """Times the joins of one incarnation."""

    def __init__(self, log: EventLog, who: tuple[str, int], group: str | None) -> None:
        """Nothing is under way before :meth:`begins`."""
        self._log, self._who, self._group = log, who, group
        self._partitions = self._rebalance = 0
        self._began: int | None = None
        self._coordinator: int | None = None
        self._assigned: int | None = None
        self._fetched: int | None = None
        self._first: int | None = None

    def begins(self) -> None:
        """It subscribes, or partitions were taken: what comes next is a join, unless one is under way already."""
        if self._assigned is not None:
            self.end()
        self._began = self._began or _now()

    def given(self, rebalance: int, partitions: int) -> None:
        """The group has given it so many partitions, in this rebalance of the incarnation."""
        if self._assigned is not None:
            self.end()
        self._assigned, self._rebalance, self._partitions = _now(), rebalance, partitions

    def known(self) -> None:
        """The committed offsets of these partitions were asked for and told."""
        self._fetched = _now()

    def took(self, at: int) -> None:
        """A poll has returned records at ``at``."""
        if self._assigned is not None and self._first is None:
            self._first = at

    def heard(self, statistics: str) -> None:
        """What librdkafka's ``stats_cb`` is set to."""
        if self._coordinator is None and (self._began or self._assigned):
            self._coordinator = coordinator_since(statistics)

    def keep(self) -> None:
        """Write the join down once all of it is known, or nothing more is to be expected."""
        if self._first is not None and (self._coordinator is not None or _now() - self._first > _PATIENCE):
            self.end()

    def end(self) -> None:
        """Write what is known of the join under way, if it came to partitions.

        The coordinator gave them, so it was there by then: on a busy machine some milliseconds lie between the two
        clocks that its moment is the difference of.
        """
        if self._assigned is not None:
            coordinator = None if self._coordinator is None else min(self._coordinator, self._assigned)
            stages = (self._began, coordinator, self._assigned, self._fetched, self._first)
            self._log.write("joins", (*self._who, self._group, self._rebalance, self._partitions, *stages))
        self._began = self._coordinator = self._assigned = self._fetched = self._first = None


def coordinator_since(statistics: str) -> int | None:
    """Since when a member is connected to its coordinator, monotonic nanoseconds; None if it is not.

    After librdkafka's STATISTICS.md: ``ts`` is its monotonic clock in microseconds, ``cgrp.stateage`` the milliseconds
    for which ``cgrp.state`` has been what it is; ``up`` is the state in which the coordinator is known and connected.
    """
    told = json.loads(statistics)
    group = told.get("cgrp", {})
    if group.get("state") != "up":
        return None
    return int(told["ts"]) * 1000 - int(group["stateage"]) * 1_000_000
