"""Why it took so long: each stall of a probe beside what the cluster, the faults and the clients did meanwhile."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from chaosk.report.changes import PartitionChange
from chaosk.report.happenings import BEFORE, Happening, Surroundings, happenings
from chaosk.report.outages import Outage
from chaosk.report.stalls import Stall
from chaosk.report.tables import NONE
from chaosk.report.words import seconds


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a stall: what it was spent on, and seconds."""

    label: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """A stall, what happened around it in order, and how the sends that were outstanding in it ended."""

    stall: Stall
    happenings: tuple[Happening, ...]
    errors: tuple[tuple[str, int], ...]
    """Client errors by name, most frequent first, reported in the stall."""
    outcomes: tuple[tuple[str, int], ...]
    """Sends outstanding in the stall, by how they ended: ``ok (late)`` or the error's name."""
    parts: tuple[Part, ...]
    """Where the time went, in order."""
    because: str
    """The same in one sentence."""


def explain(stall: Stall, outcome: Counter[str], around: Surroundings) -> Explanation:
    """Put a stall beside all that happened from shortly before it until its end."""
    outage = stall.longest
    clients = around.clients(outage.who)
    errors = Counter(e.error for e in around.errors if e.probe in clients and outage.began <= e.at <= outage.ended)
    parts = _parts(outage, around)
    return Explanation(
        stall=stall,
        happenings=happenings(stall, around),
        errors=_by_count(errors),
        outcomes=_by_count(outcome),
        parts=parts,
        because=_because(outage, parts),
    )


def _by_count(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _parts(outage: Outage, around: Surroundings) -> tuple[Part, ...]:
    """Until the turning point (a new leader, partitions given anew), and from then until a record got through."""
    turn = _turning_point(outage, around)
    if turn is None:
        return (Part("the leader stayed the same", outage.seconds),)
    at, label = min(max(turn[0], outage.began), outage.ended), turn[1]
    rest = "from then until the end of the run" if outage.censored else "from then until a record got through"
    return Part(label, (at - outage.began) / 1e9), Part(rest, (outage.ended - at) / 1e9)


def _turning_point(outage: Outage, around: Surroundings) -> tuple[int, str] | None:
    led, given = _new_leader(outage, around), _given_anew(outage, around)
    if led is not None and (given is None or led.at >= given):
        return led.at, f"until broker {led.leader} led {led.topic} {led.partition}"
    return None if given is None else (given, "until the group had rebalanced")


def _given_anew(outage: Outage, around: Surroundings) -> int | None:
    """When a consumer was last given partitions inside its outage."""
    clients = around.clients(outage.who)
    given = (at for at, probe, told in around.rebalances if probe in clients and told == "assign")
    return max((at for at in given if outage.began <= at <= outage.ended), default=None)


def _new_leader(outage: Outage, around: Surroundings) -> PartitionChange | None:
    """The last change of leader of the outage's partition inside it, or shortly before."""
    last, found = NONE, None
    for change in around.partitions:
        if change.place != outage.place or change.leader == NONE:
            continue
        if last not in {NONE, change.leader} and outage.began - BEFORE <= change.at <= outage.ended:
            found = change
        last = change.leader
    return found


def _because(outage: Outage, parts: tuple[Part, ...]) -> str:
    length = seconds(outage.seconds)
    if outage.censored:
        length = f"{length} or more, it had not ended when the run did"
    if len(parts) == 1:
        return f"{length}. The leader stayed the same: the way to it, or the client itself, was what waited."
    return f"{length}: " + ", ".join(f"{seconds(part.seconds)} {part.label}" for part in parts) + "."
