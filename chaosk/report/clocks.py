"""Wall clocks of hosts that jumped or drifted, measured from their answers: information, not part of the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chaosk.report.axis import Axis
from chaosk.report.source import Source
from chaosk.report.tables import Frame, frames

LEAST = 500_000_000
"""Nanoseconds that a clock must certainly have moved before it is reported."""
STEEP = 4
"""A clock that moved by more than 1/4 of the time between two samples jumped; no drift is that fast."""
CLOSE = 100_000_000
"""Nanoseconds of tolerance around the offsets at the start and the end of a drift."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A sample of a host's clock; nanoseconds, ``offset`` against the machine that runs chaosk."""

    at: int
    offset: int
    error: int


@dataclass(frozen=True, slots=True)
class ClockShift:
    """A move of a clock between two samples, by a jump or a drift."""

    host: str
    after: int
    """The last moment before the move, in monotonic nanoseconds."""
    before: int
    """The first moment after the move."""
    by: int
    error: int
    at_once: bool


def moves(rows: Iterable[Frame]) -> tuple[ClockShift, ...]:
    """Return every move of every host's clock, by time."""
    looks: dict[str, list[ClockReading]] = {}
    for frame in rows:
        texts, codes = frame.names("host")
        columns = (frame.ints(name).tolist() for name in ("at", "offset", "error"))
        for code, at, offset, error in zip(codes.tolist(), *columns, strict=True):
            looks.setdefault(texts[code], []).append(ClockReading(at, offset, error))
    found = [move for host, mine in looks.items() for move in _of(host, sorted(mine, key=lambda look: look.at))]
    return tuple(sorted(found, key=lambda move: (move.before, move.host)))


def _of(host: str, looks: Sequence[ClockReading]) -> Iterator[ClockShift]:
    """Yield the jumps, and the drift between them."""
    first = 0
    for here, (one, two) in enumerate(pairwise(looks), start=1):
        move = _move(host, one, two, at_once=True)
        if _certain(move) and STEEP * abs(move.by) >= two.at - one.at:
            yield from _gone_wrong(host, looks[first:here])
            yield move
            first = here
    yield from _gone_wrong(host, looks[first:])


def _gone_wrong(host: str, looks: Sequence[ClockReading]) -> Iterator[ClockShift]:
    """Yield the drift of a clock without jumps, from its last sample at the old offset to the first at the new one."""
    if not looks:
        return
    ends = min(looks, key=lambda look: look.offset + look.error), max(looks, key=lambda look: look.offset - look.error)
    one, two = sorted(ends, key=lambda look: look.at)
    if not _certain(_move(host, one, two, at_once=False)):
        return
    between = [look for look in looks if one.at <= look.at <= two.at]
    left = max((look for look in between if _close(look, one)), key=lambda look: look.at)
    came = min((look for look in between if _close(look, two)), key=lambda look: look.at)
    yield _move(host, left, came, at_once=False)


def _move(host: str, one: ClockReading, two: ClockReading, *, at_once: bool) -> ClockShift:
    return ClockShift(host, one.at, two.at, two.offset - one.offset, one.error + two.error, at_once)


def _certain(move: ClockShift) -> bool:
    return abs(move.by) - move.error >= LEAST


def _close(one: ClockReading, two: ClockReading) -> bool:
    return abs(one.offset - two.offset) <= CLOSE


def told(source: Source, axis: Axis) -> tuple[str, ...]:
    """Describe each move in a sentence."""
    found = source.tolerate(lambda: moves(frames(source.run, "host_clocks", "host", "at", "offset", "error"))) or ()
    return tuple(_sentence(move, axis) for move in found)


def _sentence(move: ClockShift, axis: Axis) -> str:
    how = "jumped" if move.at_once else "drifted"
    return (
        f"{move.host}: the wall clock {how} by {move.by / 1e9:+.3f} s (± {move.error / 1e9:.3f} s) between "
        f"{axis.seconds(move.after):.1f} s and {axis.seconds(move.before):.1f} s; durations and leases do not go by "
        "it, the host's own log files do"
    )
