"""What happened around a stall, in order: to the cluster, by the faults, and as the clients saw it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from chaosk.report.axis import Axis
from chaosk.report.changes import PartitionChange, Place, StateChange
from chaosk.report.gaps import Gap
from chaosk.report.stalls import Stall, named
from chaosk.report.tables import NONE
from chaosk.verdict import Fault

MOST = 16
"""Happenings listed for one stall."""
BEFORE = 2_000_000_000
"""Nanoseconds before a stall in which what happened may be its cause."""
_TICK = 250_000_000
"""Nanoseconds within which equal changes of several partitions are told as one."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened at a moment in monotonic nanoseconds, to a ``kind``: fault, cluster or client."""

    at: int
    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class ClientError:
    """An error that a client reported outside of any call."""

    at: int
    probe: str
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that may explain a stall."""

    axis: Axis
    faults: tuple[Fault, ...]
    partitions: tuple[PartitionChange, ...]
    controllers: tuple[StateChange, ...]
    brokers: tuple[StateChange, ...]
    zookeepers: tuple[StateChange, ...]
    errors: tuple[ClientError, ...]
    rebalances: tuple[tuple[int, str, str], ...]
    """Moment, probe and what it was told: assign, revoke or lost."""


def happenings(stall: Stall, around: Surroundings) -> tuple[Happening, ...]:
    """All that happened from shortly before a stall until its end, by time; at most ``MOST``."""
    begin, end = stall.gap.begin - BEFORE, stall.gap.until(around.axis)
    lived = (happening for happening in _all(stall, around) if begin <= happening.at <= end)
    return tuple(sorted(lived, key=attrgetter("at", "kind", "what"))[:MOST])


def _all(stall: Stall, around: Surroundings) -> Iterator[Happening]:
    yield from _ends(stall.gap)
    for fault in around.faults:
        yield from _fault_happenings(fault)
    yield from _moves(stall.places, around)
    yield from _first_errors(stall.gap, around)
    yield from _rebalances(stall.gap.probe, around)
    yield from _states(around)


def _ends(gap: Gap) -> Iterator[Happening]:
    what = "acknowledgement" if gap.kind == "produce" else "record"
    yield Happening(gap.begin, "client", f"the last {what}" if gap.kind == "consume" else "sends begin to wait")
    if gap.end is not None:
        yield Happening(gap.end, "client", f"the first {what} again")


def _rebalances(probe: str, around: Surroundings) -> Iterator[Happening]:
    words = {"assign": "partitions assigned", "revoke": "partitions revoked", "lost": "partitions lost"}
    for at, who, told in around.rebalances:
        if who == probe:
            yield Happening(at, "client", words.get(told, told))


def _states(around: Surroundings) -> Iterator[Happening]:
    for change in around.controllers[1:]:
        yield Happening(change.at, "cluster", f"broker {change.who} is the controller")
    for change in around.zookeepers:
        yield Happening(change.at, "cluster", f"ZooKeeper {change.who}: {change.state or 'does not serve'}")
    for change in around.brokers:
        said = "answers" if change.state == "answers" else "does not answer"
        yield Happening(change.at, "cluster", f"broker {change.who} {said}")


def _fault_happenings(fault: Fault) -> Iterator[Happening]:
    yield Happening(fault.invoked, "fault", f"{fault.name}: {fault.step} on {fault.targets} begins")
    for at, said in (
        (fault.applied, "verified in place"),
        (fault.heal_invoked, "being undone"),
        (fault.healed, "undone"),
    ):
        if at is not None:
            yield Happening(at, "fault", f"{fault.name}: {said}")


def _moves(places: Sequence[Place], around: Surroundings) -> Iterator[Happening]:
    """Changes of leader and ISR of the stalled partitions, those of one moment and kind as one."""
    last: dict[Place, PartitionChange] = {}
    merged: dict[tuple[int, str], list[Place]] = {}
    for change in around.partitions:
        before = last.get(change.place)
        last[change.place] = change
        if before is not None and change.place in places:
            tick = change.at // _TICK
            merged.setdefault((tick, _move(before, change)), []).append(change.place)
    firsts = {(c.at // _TICK, c.place): c.at for c in reversed(around.partitions)}
    for (tick, move), moved in merged.items():
        yield Happening(firsts[tick, moved[0]], "cluster", f"{named(moved)}: {move}")


def _move(before: PartitionChange, after: PartitionChange) -> str:
    parts = []
    if before.leader != after.leader:
        leader = "no leader" if after.leader == NONE else f"broker {after.leader} leads"
        parts.append(f"{leader} (epoch {after.epoch})" if after.epoch != NONE else leader)
    if before.isr != after.isr:
        parts.append("ISR " + ", ".join(map(str, sorted(after.isr))))
    return ", ".join(parts) or f"epoch {after.epoch}"


def _first_errors(gap: Gap, around: Surroundings) -> Iterator[Happening]:
    end, told = gap.until(around.axis), set()
    for error in around.errors:
        if error.probe == gap.probe and gap.begin <= error.at <= end and error.error not in told:
            told.add(error.error)
            yield Happening(error.at, "client", f"first {error.error}: {error.message}")
