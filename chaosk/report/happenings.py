"""Events around a stall, in order: of the cluster, of faults, and of clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chaosk.report.axis import Axis
from chaosk.report.changes import Claim, PartitionChange, Place, StateChange
from chaosk.report.members import Members
from chaosk.report.outages import PartitionOutage
from chaosk.report.stalls import Stall, named
from chaosk.report.tables import NONE
from chaosk.rundir.verdict import Fault

SAMPLED = 500_000_000
"""Nanoseconds after a stall in which its end may have been observed, since the watcher takes samples."""
MOST = 16
"""Events listed for one stall."""
BEFORE = 2_000_000_000
"""Nanoseconds before a stall in which an event may be its cause."""
_TICK = 250_000_000
"""Nanoseconds within which equal changes of several partitions are merged."""
_WORDS = {
    "produce": ("sends begin to wait", "the first acknowledgement again"),
    "consume": ("records begin to wait", "the first delivery again"),
}


@dataclass(frozen=True, slots=True)
class Happening:
    """An event at a moment in monotonic nanoseconds, of a ``kind``: fault, cluster or client."""

    at: int
    kind: str
    what: str
    rank: int = 2
    """Priority if there are too many: 0 is the highest."""


@dataclass(frozen=True, slots=True)
class ClientError:
    """An error that a client reported outside of any call."""

    at: int
    probe: str
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All possible explanations of a stall."""

    axis: Axis
    faults: tuple[Fault, ...]
    partitions: tuple[PartitionChange, ...]
    controllers: tuple[StateChange, ...]
    brokers: tuple[StateChange, ...]
    zookeepers: tuple[StateChange, ...]
    quorum: tuple[StateChange, ...]
    errors: tuple[ClientError, ...]
    rebalances: tuple[tuple[int, str, str], ...]
    """Moment, probe and event: assign, revoke or lost."""
    members: Mapping[str, frozenset[str]]
    """The probes of each group."""
    memberships: Members = field(default_factory=Members)
    """Partitions held by group members, and the times in which they could not work."""
    claims: tuple[Claim, ...] = ()
    """Brokers' claims of leadership."""

    def clients(self, who: str) -> frozenset[str]:
        """Return the probes of a group; for a probe, itself."""
        return self.members.get(who, frozenset((who,)))


def happenings(stall: Stall, around: Surroundings) -> tuple[Happening, ...]:
    """Return the events from shortly before a stall until its end, by time; of too many the most important ones."""
    begin, end = stall.longest.began - BEFORE, stall.longest.ended + SAMPLED
    lived = [happening for happening in _all(stall, around) if begin <= happening.at <= end]
    kept = sorted(lived, key=lambda happening: (happening.rank, *_order(happening)))[:MOST]
    return tuple(sorted(kept, key=_order))


def _order(happening: Happening) -> tuple[int, int, str]:
    """Sort key: time; at the same moment a fault before its effects."""
    return happening.at, ("fault", "cluster", "client").index(happening.kind), happening.what


def _all(stall: Stall, around: Surroundings) -> Iterator[Happening]:
    clients = around.clients(stall.longest.who)
    yield from _ends(stall.longest)
    for fault in around.faults:
        yield from _fault_happenings(fault)
    yield from _moves(stall.places, around.partitions)
    yield from _first_errors(stall.longest, clients, around.errors)
    yield from _rebalances(clients, around.rebalances)
    yield from _states(around)


def _ends(outage: PartitionOutage) -> Iterator[Happening]:
    first, again = _WORDS[outage.kind]
    yield Happening(outage.began, "client", first, rank=0)
    if not outage.censored:
        yield Happening(outage.ended, "client", again, rank=0)


def _rebalances(clients: frozenset[str], told: Sequence[tuple[int, str, str]]) -> Iterator[Happening]:
    words = {"assign": "partitions assigned", "revoke": "partitions revoked", "lost": "partitions lost"}
    for at, who, what in told:
        if who in clients:
            yield Happening(at, "client", f"{who}: {words.get(what, what)}", rank=3)


def _states(around: Surroundings) -> Iterator[Happening]:
    for change in _later(around.controllers, lambda _: "controller"):
        yield Happening(change.at, "cluster", f"broker {change.who} is the controller")
    for change in _later(around.zookeepers, lambda change: change.who):
        yield Happening(change.at, "cluster", f"ZooKeeper {change.who}: {change.state or 'does not serve'}")
    for change in _later(around.quorum, lambda change: change.who):
        yield Happening(change.at, "cluster", f"controller {change.who}: {change.state or 'takes no part'}")
    for change in _later(around.brokers, lambda change: change.who):
        said = "answers" if change.state == "answers" else "does not answer"
        yield Happening(change.at, "cluster", f"broker {change.who} {said}")


def _later(changes: Sequence[StateChange], of: Callable[[StateChange], object]) -> Iterator[StateChange]:
    """Yield all changes but the first state of each object, which is not a change."""
    known: set[object] = set()
    for change in changes:
        if of(change) in known:
            yield change
        known.add(of(change))


def _fault_happenings(fault: Fault) -> Iterator[Happening]:
    aimed = f" on {fault.targets}" if fault.targets else ""
    yield Happening(fault.invoked, "fault", f"{fault.name}: {fault.step}{aimed} begins", rank=1)
    for at, said in (
        (fault.applied, "in place"),
        (fault.heal_invoked, "being undone"),
        (fault.healed, "undone"),
    ):
        if at is not None:
            yield Happening(at, "fault", f"{fault.name}: {said}", rank=1)


def _moves(places: Sequence[Place], changes: Sequence[PartitionChange]) -> Iterator[Happening]:
    """Yield changes of leader and ISR of the stalled partitions, merged by moment and kind."""
    last: dict[Place, PartitionChange] = {}
    merged: dict[tuple[int, str], list[PartitionChange]] = {}
    for change in changes:
        before = last.get(change.place)
        last[change.place] = change
        if before is not None and change.place in places:
            merged.setdefault((change.at // _TICK, _move(before, change)), []).append(change)
    for (_, move), moved in merged.items():
        yield Happening(moved[0].at, "cluster", f"{named(change.place for change in moved)}: {move}", rank=1)


def _move(before: PartitionChange, after: PartitionChange) -> str:
    parts = []
    if before.leader != after.leader:
        leader = "no leader" if after.leader == NONE else f"broker {after.leader} leads"
        parts.append(f"{leader} (epoch {after.epoch})" if after.epoch != NONE else leader)
    if before.isr != after.isr:
        parts.append("ISR " + ", ".join(map(str, sorted(after.isr))))
    return ", ".join(parts) or f"epoch {after.epoch}"


def _first_errors(
    outage: PartitionOutage, clients: frozenset[str], errors: Sequence[ClientError]
) -> Iterator[Happening]:
    told: set[str] = set()
    for error in errors:
        if error.probe in clients and outage.began <= error.at <= outage.ended and error.error not in told:
            told.add(error.error)
            yield Happening(error.at, "client", f"first {error.error}: {error.message}")
