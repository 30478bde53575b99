"""Stalls: outages that came and went together, and how the sends that were outstanding in them ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaosk.report.changes import Place
from chaosk.report.outages import Outage
from chaosk.report.tables import NONE, Frame
from chaosk.report.words import listed

MOST_STALLS = 6
"""Stalls explained: the longest."""
LATE = "ok (late)"
"""How a send ended that was acknowledged in or after the stall."""
TOGETHER = 1_500_000_000
"""Nanoseconds by which outages of partitions may differ at either end and still be one stall."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Outages of one probe or group on several partitions at the same time; ``longest`` is the longest of them."""

    longest: Outage
    places: tuple[Place, ...]


def stalls(outages: Iterable[Outage]) -> tuple[Stall, ...]:
    """Outages of the same probe or group that begin and end together, as one; the longest ones, by time."""
    groups: list[list[Outage]] = []
    for outage in sorted(outages, key=lambda outage: (outage.who, outage.kind, outage.began, outage.place)):
        home = next((group for group in groups if _together(group[0], outage)), None)
        if home is None:
            groups.append([outage])
        else:
            home.append(outage)
    found = [_stall(group) for group in groups]
    longest = sorted(found, key=lambda stall: (-stall.longest.seconds, stall.longest.who, stall.longest.place))
    return tuple(sorted(longest[:MOST_STALLS], key=lambda stall: (stall.longest.began, stall.longest.who)))


def _together(one: Outage, other: Outage) -> bool:
    same = (one.who, one.kind) == (other.who, other.kind)
    return same and abs(one.began - other.began) <= TOGETHER and abs(one.ended - other.ended) <= TOGETHER


def _stall(group: Sequence[Outage]) -> Stall:
    return Stall(max(group, key=lambda outage: outage.seconds), tuple(sorted({outage.place for outage in group})))


def outcomes(found: Sequence[Stall], batches: Iterable[Frame]) -> list[Counter[str]]:
    """For each stall of a producer how the sends outstanding in it ended; other stalls get an empty count.

    Reads probe, topic, partition, scheduled, completed, outcome and error of ``sends``. A send that failed before the
    client chose a partition waited for any of its topic's.
    """
    counts: list[Counter[str]] = [Counter() for _ in found]
    producers = [(stall, count) for stall, count in zip(found, counts, strict=True) if stall.longest.kind == "produce"]
    for frame in batches if producers else ():
        for stall, count in producers:
            count.update(_endings(frame.where(_outstanding(frame, stall))))
    return counts


def _outstanding(frame: Frame, stall: Stall) -> NDArray[np.bool_]:
    """Which sends were due before the stall's end and not known before its begin."""
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
    """Partitions by topic, like ``orders 0, 3``; many of them shortened."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(set(places)):
        by_topic.setdefault(topic, []).append(partition)
    return "; ".join(f"{topic} {listed([str(number) for number in numbers])}" for topic, numbers in by_topic.items())
