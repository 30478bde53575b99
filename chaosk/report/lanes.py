"""Lanes: roles over time (leader, follower, out), drawn alike for partitions, brokers and ZooKeeper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from chaosk.report.axis import Axis
from chaosk.report.changes import HELD, Claim, PartitionChange, Place, StateChange

MOST_PARTITIONS = 12
"""Largest number of partitions drawn: those with the most changes."""


class Level(IntEnum):
    """A node's role; drawn as a thick bar, a thin bar, a dotted line, and a thick bar of another colour."""

    OUT = 0
    FOLLOWS = 1
    LEADS = 2
    CLAIMS = 3
    """A deposed leader that still claims to lead."""


@dataclass(frozen=True, slots=True)
class LevelSpan:
    """A period in seconds since the timeline's start."""

    begin: float
    end: float
    level: Level


@dataclass(frozen=True, slots=True)
class Track:
    """One node's line in a lane."""

    label: str
    spans: tuple[LevelSpan, ...]


@dataclass(frozen=True, slots=True)
class StateLane:
    """A partition with a track for each replica, or the brokers, or the ZooKeeper nodes."""

    title: str
    tracks: tuple[Track, ...]


def partition_lanes(
    changes: Sequence[PartitionChange], axis: Axis, claims: Sequence[Claim] = ()
) -> tuple[StateLane, ...]:
    """Return a lane for each partition with the most changes, in order of topic and partition.

    Shows the leader according to the newest epoch, and brokers with older epochs that still claim to lead.
    """
    by_place: dict[Place, list[PartitionChange]] = {}
    for change in changes:
        by_place.setdefault(change.place, []).append(change)
    return tuple(
        _partition_lane(place, by_place[place], axis, [claim for claim in claims if claim.place == place])
        for place in sorted(most_changed(changes))
    )


def most_changed(changes: Iterable[PartitionChange], most: int = MOST_PARTITIONS) -> tuple[Place, ...]:
    """Return the partitions with the most changes, ties in order of topic and partition."""
    counts = Counter(change.place for change in changes)
    return tuple(sorted(counts, key=lambda place: (-counts[place], place))[:most])


def _partition_lane(
    place: Place, changes: Sequence[PartitionChange], axis: Axis, claims: Sequence[Claim] = ()
) -> StateLane:
    deposed = list(_deposed(changes, claims))
    brokers = sorted({broker for change in changes for broker in (*change.replicas, *change.isr, change.leader)} - {-1})
    tracks = (
        Track(
            str(broker),
            _spans(
                _claiming(
                    [(change.at, _role(broker, change)) for change in changes],
                    [(began, ended) for who, began, ended in deposed if who == broker],
                ),
                axis,
            ),
        )
        for broker in brokers
    )
    return StateLane(f"{place[0]} {place[1]}", tuple(tracks))


def _deposed(changes: Sequence[PartitionChange], claims: Sequence[Claim]) -> Iterator[tuple[int, int, int]]:
    """Yield broker, begin and end of each period in which a deposed leader went on despite a newer leader epoch."""
    for claim in claims:
        later = [change.at for change in changes if change.epoch > claim.epoch]
        began = max(claim.began, min(later, default=claim.ended))
        if claim.ended - began >= HELD:  # news of an election takes time to spread
            yield claim.broker, began, claim.ended


def _claiming(levels: Sequence[tuple[int, Level]], times: Sequence[tuple[int, int]]) -> list[tuple[int, Level]]:
    """Insert ``CLAIMS`` for some consecutive periods into levels that start at given moments."""
    for began, ended in times:
        before = [one for one in levels if one[0] <= began]
        held = [one for one in levels if one[0] <= ended][-1:]
        after = [one for one in levels if one[0] > ended]
        levels = [*before, (began, Level.CLAIMS), *((ended, level) for _, level in held), *after]
    return list(levels)


def _role(broker: int, change: PartitionChange) -> Level:
    if broker == change.leader:
        return Level.LEADS
    return Level.FOLLOWS if broker in change.isr else Level.OUT


def broker_lane(answers: Sequence[StateChange], controllers: Sequence[StateChange], axis: Axis) -> StateLane | None:
    """Return the lane of brokers with their answers and the controller; None without samples."""
    tracks = []
    for broker in sorted({change.who for change in answers}):
        own = [(change.at, change.state == "answers") for change in answers if change.who == broker]
        leads = [(change.at, change.who == broker) for change in controllers]
        tracks.append(Track(str(broker), _spans(_overlay(own, leads), axis)))
    return StateLane("brokers", tuple(tracks)) if tracks else None


def _overlay(answers: Sequence[tuple[int, bool]], leads: Sequence[tuple[int, bool]]) -> list[tuple[int, Level]]:
    """Return the levels of a broker: out while it does not answer, else leading while it is the controller."""
    moments = sorted([(at, 0, value) for at, value in answers] + [(at, 1, value) for at, value in leads])
    state = [False, False]
    levels = []
    for at, which, value in moments:
        state[which] = value
        levels.append((at, Level.OUT if not state[0] else Level.LEADS if state[1] else Level.FOLLOWS))
    return levels


def mode_lane(title: str, modes: Sequence[StateChange], axis: Axis) -> StateLane | None:
    """Return the lane of ZooKeeper nodes or controllers with their roles; None if there are none."""
    levels = {"leader": Level.LEADS, "standalone": Level.LEADS, "follower": Level.FOLLOWS}
    tracks = []
    for node in sorted({change.who for change in modes}):
        own = [(change.at, levels.get(change.state, Level.OUT)) for change in modes if change.who == node]
        tracks.append(Track(str(node), _spans(own, axis)))
    return StateLane(title, tuple(tracks)) if tracks else None


def _spans(levels: Sequence[tuple[int, Level]], axis: Axis) -> tuple[LevelSpan, ...]:
    """Return periods of equal level, clipped to the axis; the last one lasts to its end."""
    spans: list[LevelSpan] = []
    low, high = axis.limits
    for number, (at, level) in enumerate(levels):
        until = levels[number + 1][0] if number + 1 < len(levels) else axis.high
        begin, end = max(axis.seconds(at), low), min(axis.seconds(until), high)
        if begin >= end:
            continue
        if spans and spans[-1].level == level and spans[-1].end >= begin:
            begin = spans.pop().begin
        spans.append(LevelSpan(begin, end, level))
    return tuple(spans)
