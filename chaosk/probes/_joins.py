"""Time that a member of a group takes to start reading, in stages: one row of ``joins`` for each rebalance.

Joining and syncing are one stage here, because librdkafka documents no means to separate them. Its statistics contain
the current state of the join without its age, and its debug lines are not an interface. For the state of the group's
coordinator they contain the age, so its start is known at any time.
"""

from __future__ import annotations

import json
import time

from chaosk.spec.contracts.probe import EventLog

EVERY_MS = 500
"""Interval of librdkafka's statistics, in milliseconds."""

_PATIENCE = 2_000_000_000  # nanoseconds of waiting for the statistics after the first record
_now = time.monotonic_ns


class JoinTimer:
    """Times the joins of one incarnation."""

    def __init__(self, log: EventLog, who: tuple[str, int], group: str | None) -> None:
        """No join is in progress before :meth:`begins`."""
        self._log, self._who, self._group = log, who, group
        self._partitions = self._rebalance = 0
        self._began: int | None = None
        self._coordinator: int | None = None
        self._assigned: int | None = None
        self._fetched: int | None = None
        self._first: int | None = None

    def begins(self) -> None:
        """Start a join, unless one is in progress: the member subscribed, or lost partitions."""
        if self._assigned is not None:
            self.end()
        self._began = self._began or _now()

    def given(self, rebalance: int, partitions: int) -> None:
        """Note that the group assigned so many partitions, in this rebalance of the incarnation."""
        if self._assigned is not None:
            self.end()
        self._assigned, self._rebalance, self._partitions = _now(), rebalance, partitions

    def known(self) -> None:
        """Note that the committed offsets of these partitions were read."""
        self._fetched = _now()

    def took(self, at: int) -> None:
        """Note that a poll returned records at ``at``."""
        if self._assigned is not None and self._first is None:
            self._first = at

    def heard(self, statistics: str) -> None:
        """Process librdkafka's statistics; for ``stats_cb``."""
        if self._coordinator is None and (self._began or self._assigned):
            self._coordinator = coordinator_since(statistics)

    def keep(self) -> None:
        """Write the join once it is complete, or once nothing more is expected."""
        if self._first is not None and (self._coordinator is not None or _now() - self._first > _PATIENCE):
            self.end()

    def end(self) -> None:
        """Write the known stages of the current join, if it led to partitions.

        The coordinator assigned them, so it was known by then, and not before a process first asked for it. On a busy
        machine the two clocks behind its time may differ by some milliseconds.
        """
        if self._assigned is not None:
            coordinator = None if self._coordinator is None else min(self._coordinator, self._assigned)
            if coordinator is not None and self._began is not None and self._rebalance == 0:
                coordinator = max(coordinator, self._began)
            stages = (self._began, coordinator, self._assigned, self._fetched, self._first)
            self._log.write("joins", (*self._who, self._group, self._rebalance, self._partitions, *stages))
        self._began = self._coordinator = self._assigned = self._fetched = self._first = None


def coordinator_since(statistics: str) -> int | None:
    """Return the time since which a member is connected to its coordinator, monotonic nanoseconds; else None.

    By librdkafka's STATISTICS.md, ``ts`` is its monotonic clock in microseconds, ``cgrp.stateage`` the age of
    ``cgrp.state`` in milliseconds, and in the state ``up`` the coordinator is known and connected.
    """
    told = json.loads(statistics)
    group = told.get("cgrp", {})
    if group.get("state") != "up":
        return None
    return int(told["ts"]) * 1000 - int(group["stateage"]) * 1_000_000
