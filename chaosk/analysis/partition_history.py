"""Partitions over time according to the brokers' metadata: pure Python over the few changes.

Brokers learn of a change at different times, and one that is cut off keeps reporting its old state. So at each time the
metadata with the newest leader epoch named so far counts. If brokers differ at one epoch, each measure decides. All
times are accurate to one sampling interval on either side. Time without an answer of any broker has no state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from chaosk.analysis.case import PlaceKey, TimeSpan
from chaosk.analysis.events import Events
from chaosk.analysis.glances.metadata_spans import said
from chaosk.analysis.intervals import ENDLESS, Interval, union, without
from chaosk.analysis.metadata_spans import HOLD, NONE, MetadataSpan

SILENCE = 5_000_000_000
"""Nanoseconds without any answer about a topic after which its state is unknown."""


class PartitionHistory:
    """All metadata about a run's partitions."""

    def __init__(self, said: Iterable[MetadataSpan]) -> None:
        """Take ``said`` in any order."""
        self._said: dict[PlaceKey, list[MetadataSpan]] = {}
        for one in sorted(said):
            self._said.setdefault(one.place, []).append(one)
        self._newest = {place: _at_newest_epoch(each) for place, each in self._said.items()}
        topics = {topic for topic, _ in self._said}
        self._silent = {topic: _silent(one for p in self.places(topic) for one in self._said[p]) for topic in topics}

    def places(self, topic: str) -> tuple[PlaceKey, ...]:
        """Return the partitions of a topic with any metadata."""
        return tuple(place for place in self._said if place[0] == topic)

    def when(self, place: PlaceKey, holds: Callable[[MetadataSpan], bool]) -> list[Interval]:
        """Return the times in which a broker at the newest epoch reported a state for which ``holds`` is true."""
        return union((one.began, one.ended) for one in self._newest.get(place, ()) if holds(one))

    def at(self, place: PlaceKey, moment: int) -> MetadataSpan | None:
        """Return the latest state by then, at the newest epoch; of simultaneous ones, the one that names a leader."""
        before = [one for one in self._newest.get(place, ()) if one.began <= moment]
        return max(before, key=lambda one: (one.epoch, min(one.ended, moment), one.leader >= 0), default=None)

    def leaders(self, place: PlaceKey) -> list[tuple[int, int]]:
        """Return for each epoch with a leader, in order, its first naming and the leader named last."""
        by_epoch: dict[int, list[MetadataSpan]] = {}
        for one in self._said.get(place, ()):
            if one.leader >= 0 and one.epoch != NONE:
                by_epoch.setdefault(one.epoch, []).append(one)
        return [
            (min(one.began for one in each), max(each, key=lambda one: one.ended).leader)
            for _, each in sorted(by_epoch.items())
        ]

    def changes(self, place: PlaceKey) -> list[Interval]:
        """Return the changes of leader, in order, each as (latest time before the change, time of the first naming).

        The first time is the last other report of the broker that named the change first, since other brokers learn of
        it later. If that broker was silent right before, as after a start, it is the last other report of any broker.
        """
        named = pairwise(self.leaders(place))
        return [(self._otherwise(place, at), at) for (_, old), (at, new) in named if new != old]

    def _otherwise(self, place: PlaceKey, at: int) -> int:
        before = [(one.asked, one.last if one.last < at else one.began) for one in self._said[place] if one.began < at]
        first = {one.asked for one in self._said[place] if one.began == at}
        own = [last for asked, last in before if asked in first and at - last <= HOLD]
        return max(own or [last for _, last in before], default=-ENDLESS)

    def watched(self, topic: str, window: TimeSpan) -> bool:
        """Return True if the window overlaps no stretch of ``SILENCE`` or more without metadata of the topic."""
        return not any(a < window.ended and window.began < b for a, b in self._silent.get(topic, [(-ENDLESS, ENDLESS)]))


def described(events: Events) -> PartitionHistory:
    """Return the metadata of a run."""
    return PartitionHistory(said(events.rows))


def _at_newest_epoch(said: Sequence[MetadataSpan]) -> list[MetadataSpan]:
    """Return the states, each until a later epoch was first named."""
    named: dict[int, int] = {}
    for one in said:
        named[one.epoch] = min(one.began, named.get(one.epoch, one.began))
    over: dict[int, int] = {}
    until = ENDLESS
    for epoch in sorted(named, reverse=True):
        over[epoch], until = until, min(until, named[epoch])
    return [replace(one, ended=min(one.ended, over[one.epoch])) for one in said if one.began < over[one.epoch]]


def _silent(said: Iterable[MetadataSpan]) -> list[Interval]:
    """Return the stretches of ``SILENCE`` or more without any state, also those before the first and after the last."""
    spoken = union((one.began, max(one.ended, one.began + 1)) for one in said)
    spoken = [(spoken[0][0] - SILENCE, spoken[0][0]), *spoken, (spoken[-1][1], spoken[-1][1] + SILENCE)]
    return [hole for hole in without([(-ENDLESS, ENDLESS)], union(spoken)) if hole[1] - hole[0] >= SILENCE]
