"""Stalls: simultaneous outages of several partitions, and the results of their outstanding sends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaosk.report.changes import Place
from chaosk.report.outages import PartitionOutage
from chaosk.report.tables import NONE, Frame
from chaosk.report.words import listed

MOST_STALLS = 6
"""Number of stalls explained: the longest ones."""
LATE = "ok (late)"
"""Result of a send that was acknowledged in or after the stall."""
TOGETHER = 1_500_000_000
"""Largest difference at either end, in nanoseconds, between outages of one stall."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Simultaneous outages of one probe or group on several partitions; ``longest`` is the longest of them."""

    longest: PartitionOutage
    places: tuple[Place, ...]


def stalls(outages: Iterable[PartitionOutage]) -> tuple[Stall, ...]:
    """Merge outages of the same probe or group that begin and end together; return the longest ones by time."""
    groups: list[list[PartitionOutage]] = []
    for outage in sorted(outages, key=lambda outage: (outage.who, outage.kind, outage.began, outage.place)):
        home = next((group for group in groups if _together(group[0], outage)), None)
        if home is None:
            groups.append([outage])
        else:
            home.append(outage)
    found = [_stall(group) for group in groups]
    longest = sorted(found, key=lambda stall: (-stall.longest.seconds, stall.longest.who, stall.longest.place))
    return tuple(sorted(longest[:MOST_STALLS], key=lambda stall: (stall.longest.began, stall.longest.who)))


def _together(one: PartitionOutage, other: PartitionOutage) -> bool:
    same = (one.who, one.kind) == (other.who, other.kind)
    return same and abs(one.began - other.began) <= TOGETHER and abs(one.ended - other.ended) <= TOGETHER


def _stall(group: Sequence[PartitionOutage]) -> Stall:
    return Stall(max(group, key=lambda outage: outage.seconds), tuple(sorted({outage.place for outage in group})))


def outcomes(found: Sequence[Stall], batches: Iterable[Frame]) -> list[Counter[str]]:
    """Count the results of the sends outstanding in each producer's stall; other stalls get an empty count.

    Reads probe, topic, partition, scheduled, completed, outcome and error of ``sends``. A send that failed before the
    client chose a partition counts for every partition of its topic.
    """
    counts: list[Counter[str]] = [Counter() for _ in found]
    producers = [(stall, count) for stall, count in zip(found, counts, strict=True) if stall.longest.kind == "produce"]
    for frame in batches if producers else ():
        for stall, count in producers:
            count.update(_endings(frame.where(_outstanding(frame, stall))))
    return counts


def _outstanding(frame: Frame, stall: Stall) -> NDArray[np.bool_]:
    """Select the sends that were due before the stall's end and not completed before its begin."""
    due, completed = frame.ints("scheduled"), frame.ints("completed")
    began, ended = stall.longest.began, stall.longest.ended
    mine = frame.equal("probe", stall.longest.who) & (due < ended) & ((completed > began) | (completed == NONE))
    here = np.zeros(len(frame), dtype=np.bool_)
    partition = frame.ints("partition")
    for topic in {topic for topic, _ in stall.places}:
        numbers = [number for name, number in stall.places if name == topic]
        here |= frame.equal("topic", topic) & np.isin(partition, [*numbers, NONE])
    return np.asarray(mine & here)


def _endings(frame: Frame) -> Counter[str]:
    ok = frame.equal("outcome", "ok")
    found = Counter({LATE: int(ok.sum())}) if ok.any() else Counter[str]()
    for outcome, rows in frame.where(~ok).masks("outcome"):
        errors, codes = frame.where(~ok).where(rows).names("error")
        found.update(outcome if code == NONE else errors[code] for code in codes.tolist())
    return found


def named(places: Iterable[Place]) -> str:
    """List partitions by topic, like ``orders 0, 3``; long lists are shortened."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(set(places)):
        by_topic.setdefault(topic, []).append(partition)
    return "; ".join(f"{topic} {listed([str(number) for number in numbers])}" for topic, numbers in by_topic.items())
