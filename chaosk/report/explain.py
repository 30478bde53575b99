"""Explanations of stalls: each one beside the events of cluster, faults and clients at that time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from chaosk.core.figures import seconds
from chaosk.report.causes import causes
from chaosk.report.happenings import Happening, Surroundings, happenings
from chaosk.report.outages import PartitionOutage
from chaosk.report.stalls import Stall
from chaosk.report.turning_points import turning_point

_NOTHING = "the leader and its ISR stayed the same"


@dataclass(frozen=True, slots=True)
class StallShare:
    """A part of a stall: its label and its seconds."""

    label: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """A stall, the events around it in order, and the results of its outstanding sends."""

    stall: Stall
    happenings: tuple[Happening, ...]
    errors: tuple[tuple[str, int], ...]
    """Client errors during the stall by name, most frequent first."""
    outcomes: tuple[tuple[str, int], ...]
    """Sends outstanding in the stall by result: ``ok (late)`` or the error's name."""
    parts: tuple[StallShare, ...]
    """The parts of the stall, in order."""
    because: str
    """The same in one sentence."""


def explain(stall: Stall, outcome: Counter[str], around: Surroundings) -> Explanation:
    """Explain a stall by the events from shortly before it until its end."""
    outage = stall.longest
    clients = around.clients(outage.who)
    errors = Counter(e.error for e in around.errors if e.probe in clients and outage.began <= e.at <= outage.ended)
    parts = _parts(outage, around)
    why = causes(outage, stall.places, around)
    return Explanation(
        stall=stall,
        happenings=happenings(stall, around),
        errors=_by_count(errors),
        outcomes=_by_count(outcome),
        parts=parts,
        because="; ".join([_because(outage, parts, known=bool(why)).removesuffix("."), *why]) + ".",
    )


def _by_count(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _parts(outage: PartitionOutage, around: Surroundings) -> tuple[StallShare, ...]:
    """Return the time until the turning point, and from then until a record got through."""
    turn = turning_point(outage, around)
    if turn is None:
        return (StallShare(_NOTHING, outage.seconds),)
    at = min(max(turn.at, outage.began), outage.ended)
    rest = "from then until the end of the run" if outage.censored else "from then until a record got through"
    parts = (StallShare(turn.until, (at - outage.began) / 1e9), StallShare(rest, (outage.ended - at) / 1e9))
    return tuple(part for part in parts if part.seconds > 0)


def _because(outage: PartitionOutage, parts: tuple[StallShare, ...], *, known: bool = False) -> str:
    """Describe the parts of an outage; ``known``: its cause is reported separately."""
    length = seconds(outage.seconds)
    if outage.censored:
        length = f"{length} or more, it had not ended when the run did"
    if parts[0].label == _NOTHING and known:
        return f"{length}."
    if parts[0].label == _NOTHING:
        return (
            f"{length}. Leader and ISR stayed the same: the way to the leader, or the client itself, was what waited."
        )
    if len(parts) == 1:
        return f"{length}, all of it {parts[0].label}."
    return f"{length}: " + ", ".join(f"{seconds(part.seconds)} {part.label}" for part in parts) + "."
