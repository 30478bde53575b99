"""Why it took so long: each stall of a probe beside what the cluster, the faults and the clients did meanwhile."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from chaosk.report.changes import PartitionChange
from chaosk.report.happenings import BEFORE, Happening, Surroundings, happenings
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
    gap, end = stall.gap, stall.gap.until(around.axis)
    errors = Counter(e.error for e in around.errors if e.probe == gap.probe and gap.begin <= e.at <= end)
    parts = _parts(stall, around)
    return Explanation(
        stall=stall,
        happenings=happenings(stall, around),
        errors=_by_count(errors),
        outcomes=_by_count(outcome),
        parts=parts,
        because=_because(stall, parts, around),
    )


def _by_count(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _parts(stall: Stall, around: Surroundings) -> tuple[Part, ...]:
    """Until the turning point (a new leader, partitions given anew), and from then until a record got through."""
    gap = stall.gap
    end = gap.until(around.axis)
    turn = _turning_point(stall, around)
    if turn is None:
        return (Part("the leader stayed the same", (end - gap.begin) / 1e9),)
    at, label = min(max(turn[0], gap.begin), end), turn[1]
    return Part(label, (at - gap.begin) / 1e9), Part("from then until a record got through", (end - at) / 1e9)


def _turning_point(stall: Stall, around: Surroundings) -> tuple[int, str] | None:
    led, given = _new_leader(stall, around), _given_anew(stall, around)
    if led is not None and (given is None or led.at >= given):
        return led.at, f"until broker {led.leader} led {led.topic} {led.partition}"
    return None if given is None else (given, "until the group had rebalanced")


def _given_anew(stall: Stall, around: Surroundings) -> int | None:
    """When a consumer was last given partitions inside its stall."""
    gap = stall.gap
    inside = (
        at for at, probe, told in around.rebalances if probe == gap.probe and told == "assign" and gap.begin <= at
    )
    return max((at for at in inside if at <= gap.until(around.axis)), default=None)


def _because(stall: Stall, parts: tuple[Part, ...], around: Surroundings) -> str:
    length = seconds(stall.gap.seconds(around.axis))
    if stall.gap.end is None:
        return f"{length} or more: it had not ended when the probe did."
    if len(parts) == 1:
        return f"{length} while the leader stayed the same: the way to it, or the client itself, was what waited."
    return f"{length}: " + ", ".join(f"{seconds(part.seconds)} {part.label}" for part in parts) + "."


def _new_leader(stall: Stall, around: Surroundings) -> PartitionChange | None:
    """The last change of leader of the longest gap's partition inside it."""
    gap, last, found = stall.gap, NONE, None
    for change in around.partitions:
        if change.place != gap.place or change.leader == NONE:
            continue
        if last not in {NONE, change.leader} and gap.begin - BEFORE <= change.at <= gap.until(around.axis):
            found = change
        last = change.leader
    return found
