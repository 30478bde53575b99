"""Stalls: the gaps of one probe that came and went together, and how the sends that were outstanding in them ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chaosk.report.axis import Axis
from chaosk.report.changes import Place
from chaosk.report.gaps import Gap, by_source
from chaosk.report.tables import NONE, Frame
from chaosk.report.words import listed

MOST_STALLS = 6
"""Stalls explained: the longest."""
LATE = "ok (late)"
"""How a send ended that was acknowledged in or after the stall."""
TOGETHER = 1_500_000_000
"""Nanoseconds by which gaps of partitions may differ at either end and still be one stall."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Gaps of one probe on several partitions at the same time; ``gap`` is the longest of them."""

    gap: Gap
    places: tuple[Place, ...]


def stalls(gaps: Iterable[Gap], axis: Axis) -> tuple[Stall, ...]:
    """Gaps of one probe that begin and end together, as one; the longest first, at most ``MOST_STALLS``."""
    groups: list[list[Gap]] = []
    for gap in sorted(gaps, key=lambda gap: (gap.probe, gap.begin, gap.place)):
        home = next((group for group in groups if _together(group[0], gap, axis)), None)
        if home is None:
            groups.append([gap])
        else:
            home.append(gap)
    found = [
        Stall(max(group, key=lambda gap: gap.seconds(axis)), tuple(sorted(gap.place for gap in group)))
        for group in groups
    ]
    longest = sorted(found, key=lambda stall: (-stall.gap.seconds(axis), stall.gap.probe, stall.gap.place))
    return tuple(sorted(longest[:MOST_STALLS], key=lambda stall: (stall.gap.begin, stall.gap.probe)))


def _together(one: Gap, other: Gap, axis: Axis) -> bool:
    ends = abs(one.until(axis) - other.until(axis))
    return one.probe == other.probe and abs(one.begin - other.begin) <= TOGETHER and ends <= TOGETHER


def outcomes(found: Sequence[Stall], batches: Iterable[Frame], axis: Axis) -> list[Counter[str]]:
    """For each stall of a producer how the sends outstanding in it ended, from columns of ``sends``.

    Reads probe, topic, partition, scheduled, completed, outcome and error; other stalls get an empty count.
    """
    counts: list[Counter[str]] = [Counter() for _ in found]
    producers = [(stall, count) for stall, count in zip(found, counts, strict=True) if stall.gap.kind == "produce"]
    for frame in batches if producers else ():
        for (probe, place), rows in by_source(frame):
            for stall, count in producers:
                if stall.gap.probe == probe and place in stall.places:
                    count.update(_outstanding(rows, stall.gap.begin, stall.gap.until(axis)))
    return counts


def _outstanding(frame: Frame, begin: int, end: int) -> Counter[str]:
    due, completed = frame.ints("scheduled"), frame.ints("completed")
    inside = frame.where((due < end) & ((completed > begin) | (completed == NONE)))
    errors, error = inside.names("error")
    results, result = inside.names("outcome")
    names = np.array([*(f"{name}" for name in errors), ""], dtype=object)[error]
    ended = np.array([*results, ""], dtype=object)[result]
    ok = ended == "ok"
    found = Counter({LATE: int(ok.sum())}) if ok.any() else Counter()
    found.update(name or how for name, how in zip(names[~ok].tolist(), ended[~ok].tolist(), strict=True))
    return found


def named(places: Iterable[Place]) -> str:
    """Partitions by topic, like ``orders 0, 3``; many of them shortened."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(set(places)):
        by_topic.setdefault(topic, []).append(partition)
    return "; ".join(f"{topic} {listed([str(number) for number in numbers])}" for topic, numbers in by_topic.items())
