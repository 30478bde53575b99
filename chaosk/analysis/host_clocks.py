"""Wall clocks of the brokers' hosts against that of chaosk's machine, in stretches, as measured. Pure Python."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from chaosk.analysis.case import Case
from chaosk.analysis.event_files import read

NEGLIGIBLE = 100_000_000
"""Nanoseconds by which a clock may be off without any effect."""
_EVER = 2**62
_WORD = re.compile(r"[^\s,]+")


class _Reading(NamedTuple):
    """Bounds of a clock's offset at one moment."""

    at: int
    least: int
    most: int


class _Bounds(NamedTuple):
    """Bounds of a clock's offset in a stretch of time."""

    began: int
    ended: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class ClockStretch:
    """A stretch of time with bounds of how far a broker's wall clock was ahead of chaosk's; nanoseconds."""

    broker: int
    began: int
    ended: int
    least: int
    most: int


SCHEMA = "broker int, began long, ended long, least long, most long"
"""Columns of a frame of stretches."""


def clock_stretches(case: Case) -> tuple[ClockStretch, ...]:
    """Return the stretches of all brokers, which cover all time; none if no clock was ever off.

    Between two measurements a clock may have been at either. A host that was never measured counts as not off.
    """
    readings: dict[str, list[_Reading]] = defaultdict(list)
    for row in read(case.events, "host_clocks").to_pylist():
        low, high = row["offset"] - row["error"], row["offset"] + row["error"]
        readings[row["host"]].append(_Reading(row["at"], low, high))
    if all(abs(bound) <= NEGLIGIBLE for mine in readings.values() for each in mine for bound in each[1:]):
        return ()
    known = {host: tuple(_merged(_between(sorted(mine)))) for host, mine in readings.items()}
    never = (_Bounds(0, _EVER, 0, 0),)
    return tuple(
        ClockStretch(broker, *bounds)
        for broker, host in sorted(case.hosts.items())
        for bounds in known.get(host, never)
    )


def unmeasured(case: Case) -> bool:
    """Return True if a step moved the clock of a broker's host, and nobody measured that clock meanwhile."""
    moves = [fault for fault in case.acted if fault.step == "skew_clock"]
    if not moves:
        return False
    readings = [(row["host"], row["at"]) for row in read(case.events, "host_clocks", ["host", "at"]).to_pylist()]
    for fault in moves:
        named = set(_WORD.findall(fault.targets)) & set(case.hosts.values())
        began, ended = fault.invoked, fault.healed or case.record.ended
        if named - {host for host, at in readings if began <= at <= ended}:
            return True
    return False


def _between(readings: list[_Reading]) -> Iterator[_Bounds]:
    """Yield the time before the first reading, between each two, and after the last one."""
    first, last = readings[0], readings[-1]
    yield _Bounds(0, first.at, first.least, first.most)
    for before, after in pairwise(readings):
        yield _Bounds(before.at, after.at, min(before.least, after.least), max(before.most, after.most))
    yield _Bounds(last.at, _EVER, last.least, last.most)


def _merged(stretches: Iterable[_Bounds]) -> Iterator[_Bounds]:
    """Yield the stretches, with neighbours as one while the clock is about where it was in the first of them."""
    group: list[_Bounds] = []
    for stretch in stretches:
        if group and max(abs(stretch.least - group[0].least), abs(stretch.most - group[0].most)) > NEGLIGIBLE:
            yield _union(group)
            group = []
        group.append(stretch)
    yield _union(group)


def _union(group: list[_Bounds]) -> _Bounds:
    least, most = min(each.least for each in group), max(each.most for each in group)
    return _Bounds(group[0].began, group[-1].ended, least, most)
