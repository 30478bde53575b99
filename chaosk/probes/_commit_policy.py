"""Commit times of a consumer that commits itself, and its processed but uncommitted offsets."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from confluent_kafka import Consumer

from chaosk.probes._commits import Commits
from chaosk.probes._fields import Every
from chaosk.probes._ownership import Place

if TYPE_CHECKING:
    from chaosk.probes.consume import Consume

_now = time.monotonic_ns


class CommitPolicy:
    """Commits processed records: every record, batch, number of records or duration, as the scenario says."""

    def __init__(self, commits: Commits, every: Every, *, wait: bool) -> None:
        """``wait``: wait for the answer of each commit (sync), or not (async)."""
        self._commits, self._every, self._wait = commits, every, wait
        self._offsets: dict[Place, int] = {}
        self._records = 0
        self._at = _now()

    def processed(self, offsets: dict[Place, int], records: int) -> None:
        """Note that so many records were processed up to these offsets."""
        self._offsets |= offsets
        self._records += records

    def keep(self, client: Consumer) -> None:
        """Commit if it is time."""
        if self._due():
            self.commit(client)

    def commit(self, client: Consumer) -> None:
        """Commit all uncommitted offsets now; refused ones are kept for the next commit.

        A commit at the end of a rebalance is refused for its old generation. Without keeping it, the next commit,
        possibly the last one before a revocation, would not contain it.
        """
        offsets, self._offsets = self._offsets, {}
        self._records, self._at = 0, _now()
        if offsets and self._wait:
            self._offsets = self._commits.sync(client, offsets) | self._offsets
        elif offsets:
            self._commits.start(client, offsets)

    def before_revoke(self, client: Consumer, places: Iterable[Place]) -> None:
        """Commit before partitions are revoked, and wait: another member starts at this commit."""
        offsets = {place: self._offsets.pop(place) for place in places if place in self._offsets}
        if offsets:
            self._commits.sync(client, offsets)

    def drop(self, places: Iterable[Place]) -> None:
        """Drop the offsets of lost partitions, which another member may hold."""
        for place in places:
            self._offsets.pop(place, None)

    def _due(self) -> bool:
        if self._every.seconds is not None:
            return _now() - self._at >= self._every.seconds * 1e9
        return self._every.records is None or self._records >= self._every.records


def paced(probe: Consume, commits: Commits) -> CommitPolicy | None:
    """Return the committer of a probe that commits itself; None for others."""
    how = probe.committing()
    if how not in {"sync", "async"}:
        return None
    return CommitPolicy(commits, probe.commit_every or Every(batches=1), wait=how == "sync")
