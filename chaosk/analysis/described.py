"""Partitions over time as brokers described them to the watcher: pure Python over the few times that it changed.

Brokers hear of a change at different times, and one that is cut off goes on telling what it knew. So what counts is
what was said at the newest leader epoch that anyone had named by then; of what brokers say at one epoch, each measure
tells which counts. All times are right to one sampling interval on either side, and time in which no broker answered
shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from chaosk.analysis.case import PlaceKey, Span
from chaosk.analysis.events import Events
from chaosk.analysis.frames.said import said as by_spark
from chaosk.analysis.glances.said import said as at_a_glance
from chaosk.analysis.intervals import ENDLESS, Interval, union, without
from chaosk.analysis.said import HOLD, NONE, Said

SILENCE = 5_000_000_000
"""Nanoseconds without any answer about a topic from which on nobody can say what became of it."""


class Described:
    """All that was said of a run's partitions."""

    def __init__(self, said: Iterable[Said]) -> None:
        """``said`` in any order."""
        self._said: dict[PlaceKey, list[Said]] = {}
        for one in sorted(said):
            self._said.setdefault(one.place, []).append(one)
        self._newest = {place: _at_newest_epoch(each) for place, each in self._said.items()}
        topics = {topic for topic, _ in self._said}
        self._silent = {topic: _silent(one for p in self.places(topic) for one in self._said[p]) for topic in topics}

    def places(self, topic: str) -> tuple[PlaceKey, ...]:
        """The partitions of a topic that anything was said of."""
        return tuple(place for place in self._said if place[0] == topic)

    def when(self, place: PlaceKey, holds: Callable[[Said], bool]) -> list[Interval]:
        """The times in which any broker that knew the newest epoch said something for which ``holds`` is true."""
        return union((one.began, one.ended) for one in self._newest.get(place, ()) if holds(one))

    def at(self, place: PlaceKey, moment: int) -> Said | None:
        """What was said last by then, at the newest epoch; of what was said at the same time, what names a leader."""
        before = [one for one in self._newest.get(place, ()) if one.began <= moment]
        return max(before, key=lambda one: (one.epoch, min(one.ended, moment), one.leader >= 0), default=None)

    def leaders(self, place: PlaceKey) -> list[tuple[int, int]]:
        """Of each epoch that had a leader, in order: when anyone first named it, and the leader that was named last."""
        by_epoch: dict[int, list[Said]] = {}
        for one in self._said.get(place, ()):
            if one.leader >= 0 and one.epoch != NONE:
                by_epoch.setdefault(one.epoch, []).append(one)
        return [
            (min(one.began for one in each), max(each, key=lambda one: one.ended).leader)
            for _, each in sorted(by_epoch.items())
        ]

    def changes(self, place: PlaceKey) -> list[Interval]:
        """The changes of leader, in order: when it was not yet seen to have come about, and when it was first named.

        The first is when the broker that named it first told otherwise last: others hear of it later. Where that one
        was silent right before, as one that has just come up, it is when anyone told otherwise last.
        """
        named = pairwise(self.leaders(place))
        return [(self._otherwise(place, at), at) for (_, old), (at, new) in named if new != old]

    def _otherwise(self, place: PlaceKey, at: int) -> int:
        before = [(one.asked, one.last if one.last < at else one.began) for one in self._said[place] if one.began < at]
        first = {one.asked for one in self._said[place] if one.began == at}
        own = [last for asked, last in before if asked in first and at - last <= HOLD]
        return max(own or [last for _, last in before], default=-ENDLESS)

    def watched(self, topic: str, window: Span) -> bool:
        """Whether the window overlaps no stretch of ``SILENCE`` or more in which no broker described the topic."""
        return not any(a < window.ended and window.began < b for a, b in self._silent.get(topic, [(-ENDLESS, ENDLESS)]))


def described(events: Events) -> Described:
    """By numpy where a run is glanced at, else by Spark."""
    if events.glances:
        return Described(at_a_glance(events.rows))
    return Described(Said(**row.asDict()) for row in events.gathered(by_spark(events)).collect())


def _at_newest_epoch(said: Sequence[Said]) -> list[Said]:
    """What was said, each until anyone first named a later epoch."""
    named: dict[int, int] = {}
    for one in said:
        named[one.epoch] = min(one.began, named.get(one.epoch, one.began))
    over: dict[int, int] = {}
    until = ENDLESS
    for epoch in sorted(named, reverse=True):
        over[epoch], until = until, min(until, named[epoch])
    return [replace(one, ended=min(one.ended, over[one.epoch])) for one in said if one.began < over[one.epoch]]


def _silent(said: Iterable[Said]) -> list[Interval]:
    """The stretches in which nobody spoke for ``SILENCE``, those before the first word and after the last, too."""
    spoken = union((one.began, max(one.ended, one.began + 1)) for one in said)
    spoken = [(spoken[0][0] - SILENCE, spoken[0][0]), *spoken, (spoken[-1][1], spoken[-1][1] + SILENCE)]
    return [hole for hole in without([(-ENDLESS, ENDLESS)], union(spoken)) if hole[1] - hole[0] >= SILENCE]
