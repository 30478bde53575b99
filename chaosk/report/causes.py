"""Causes for which a group made no progress, from the assignments and errors of its members. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from chaosk.core.figures import number, seconds
from chaosk.report.axis import Axis
from chaosk.report.changes import Place
from chaosk.report.happenings import BEFORE, Surroundings
from chaosk.report.members import Absence, Limits
from chaosk.report.outages import PartitionOutage
from chaosk.report.stalls import named
from chaosk.report.words import listed, since

MAX_POLL_EXCEEDED = "_MAX_POLL_EXCEEDED"
MOVED = frozenset({
    "NOT_COORDINATOR", "NOT_COORDINATOR_FOR_GROUP", "COORDINATOR_NOT_AVAILABLE", "GROUP_COORDINATOR_NOT_AVAILABLE",
    "COORDINATOR_LOAD_IN_PROGRESS", "GROUP_LOAD_IN_PROGRESS", "_WAIT_COORD",
})  # fmt: skip
"""Errors from which a member learns that its group's coordinator is missing or has moved."""
_LEAST = 1_000_000_000
"""Shortest period without an assigned member that is reported, in nanoseconds."""


def causes(outage: PartitionOutage, places: Collection[Place], around: Surroundings) -> tuple[str, ...]:
    """Return the causes of a group's outage that the events show, the first cause first; may be empty."""
    if outage.kind != "consume":
        return ()
    every: Sequence[Callable[[PartitionOutage, Collection[Place], Surroundings], Iterator[str]]]
    every = (too_long, ran_out, coordinator_moved, unheld)
    return tuple(cause for one in every for cause in one(outage, places, around))


def too_long(outage: PartitionOutage, _: Collection[Place], around: Surroundings) -> Iterator[str]:
    """Members that left their group because they did not poll within ``max.poll.interval.ms``."""
    clients = around.clients(outage.who)
    begin = outage.began - BEFORE - max((int(_limits(one, around).max_poll * 1e9) for one in clients), default=0)
    found = [e for e in around.errors if e.error == MAX_POLL_EXCEEDED and e.probe in clients]
    found = [e for e in found if begin <= e.at <= outage.ended]
    if not found:
        return
    who = sorted({e.probe for e in found})
    limit = " or ".join(dict.fromkeys(seconds(_limits(one, around).max_poll) for one in who)).replace(".0 s", " s")
    times = "" if len(found) == 1 else f" {number(len(found))} times"
    yield f"{_and(who)} left {outage.who}{times}: no poll within max.poll.interval.ms ({limit})"


def ran_out(outage: PartitionOutage, places: Collection[Place], around: Surroundings) -> Iterator[str]:
    """Members that were killed or paused, and the reassignment of their partitions."""
    clients = around.clients(outage.who)
    for away in around.memberships.absences:
        overlaps = away.began <= outage.ended and outage.began - BEFORE <= away.ended
        if away.probe in clients and away.how != "stopped" and overlaps:
            yield from _after(away, places, around)


def _after(away: Absence, places: Collection[Place], around: Surroundings) -> Iterator[str]:
    held = [one for one in around.memberships.holdings if one.place in places]
    had = sorted({one.place for one in held if one.probe == away.probe and one.began < away.began == one.ended})
    if not had:
        return
    gone = f"{away.probe} was {away.how} at {_moment(away.began, around.axis)}"
    later = sorted((one for one in held if one.began > away.began), key=lambda one: one.began)
    next_ones = [next((one for one in later if one.place == place), None) for place in had]
    given = [one for one in next_ones if one is not None]
    if len(given) < len(had):
        lacking = [place for place, one in zip(had, next_ones, strict=True) if one is None]
        yield f"{gone}, and no member was given {named(lacking)} after that"
        return
    last = max(given, key=lambda one: one.began)
    waited, session = (last.began - away.began) / 1e9, _limits(away.probe, around).session
    ran = f"its session ({seconds(session)}) ran out, and " if waited >= 0.9 * session else ""
    to = _and(sorted({one.probe for one in given}))
    yield f"{gone}: {ran}{named(had)} went to {to} {seconds(waited)} later".replace(".0 s)", " s)")


def coordinator_moved(outage: PartitionOutage, _: Collection[Place], around: Surroundings) -> Iterator[str]:
    """Errors about a moved coordinator, and faults that targeted the group's coordinator."""
    clients = around.clients(outage.who)
    told = [e for e in around.errors if e.error in MOVED and e.probe in clients]
    told = [e for e in told if outage.began - BEFORE <= e.at <= outage.ended]
    aimed = around.memberships.aimed_at.get(outage.who, ())
    hit = [f for f in around.faults if f.name in aimed and f.took and f.invoked <= outage.ended]
    hit = [f for f in hit if outage.began - BEFORE <= (f.healed or outage.ended)]
    for fault in hit:
        where = _moment(fault.invoked, around.axis)
        yield f"{fault.name} hit the coordinator of {outage.who}, {fault.targets}, at {where}"
    if told:
        first = min(told, key=lambda e: e.at)
        names = listed(sorted({e.error for e in told}))
        yield f"the coordinator of {outage.who} moved: {names} from {_moment(first.at, around.axis)} on"


def unheld(outage: PartitionOutage, places: Collection[Place], around: Surroundings) -> Iterator[str]:
    """Partitions that no member of the group had."""
    if outage.who not in around.members:
        return
    clients = around.clients(outage.who)
    longest: dict[Place, int] = {}
    for place in places:
        mine = [one for one in around.memberships.holdings if one.place == place and one.probe in clients]
        spans = sorted((max(one.began, outage.began), min(one.ended, outage.ended)) for one in mine)
        free, last = 0, outage.began
        for began, ended in [*((b, e) for b, e in spans if b < e), (outage.ended, outage.ended)]:
            free += max(0, began - last)
            last = max(last, ended)
        longest[place] = free
    lacking = [place for place, free in longest.items() if free >= _LEAST]
    if lacking:
        most = seconds(max(longest[place] for place in lacking) / 1e9)
        upto = "up to " if len({longest[place] for place in lacking}) > 1 else ""
        yield f"no member of {outage.who} worked on {named(lacking)} for {upto}{most}"


def _limits(probe: str, around: Surroundings) -> Limits:
    return around.memberships.limits.get(probe, Limits())


def _moment(at: int, axis: Axis) -> str:
    return since(axis.seconds(at))


def _and(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])
