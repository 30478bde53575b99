"""Jumps of the wall clocks of hosts, from what their answers told of them: information, no part of the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from chaosk.report.axis import Axis
from chaosk.report.source import Source
from chaosk.report.tables import Frame, frames

LEAST = 500_000_000
"""Nanoseconds that a clock moves for certain, or it did not jump."""


@dataclass(frozen=True, slots=True)
class Look:
    """What was known of a host's clock at a moment; nanoseconds, ``offset`` against chaosk's machine."""

    at: int
    offset: int
    error: int


@dataclass(frozen=True, slots=True)
class Jump:
    """A clock that was moved between two looks."""

    host: str
    after: int
    """The last moment at which it was not yet, in monotonic nanoseconds."""
    before: int
    """The first at which it was."""
    by: int
    error: int


def jumps(rows: Iterable[Frame]) -> tuple[Jump, ...]:
    """Every jump of every host, by time."""
    looks: dict[str, list[Look]] = {}
    for frame in rows:
        texts, codes = frame.names("host")
        columns = (frame.ints(name).tolist() for name in ("at", "offset", "error"))
        for code, at, offset, error in zip(codes.tolist(), *columns, strict=True):
            looks.setdefault(texts[code], []).append(Look(at, offset, error))
    found = [jump for host, mine in looks.items() for jump in _of(host, mine)]
    return tuple(sorted(found, key=lambda jump: (jump.before, jump.host)))


def _of(host: str, looks: list[Look]) -> Iterator[Jump]:
    for one, two in pairwise(sorted(looks, key=lambda look: look.at)):
        by, error = two.offset - one.offset, one.error + two.error
        if abs(by) - error >= LEAST:
            yield Jump(host, one.at, two.at, by, error)


def told(source: Source, axis: Axis) -> tuple[str, ...]:
    """Each jump in a sentence."""
    found = source.tolerate(lambda: jumps(frames(source.run, "host_clocks", "host", "at", "offset", "error"))) or ()
    return tuple(_sentence(jump, axis) for jump in found)


def _sentence(jump: Jump, axis: Axis) -> str:
    return (
        f"{jump.host}: the wall clock jumped by {jump.by / 1e9:+.3f} s (± {jump.error / 1e9:.3f} s) between "
        f"{axis.seconds(jump.after):.1f} s and {axis.seconds(jump.before):.1f} s; durations and leases do not go by "
        "it, the host's own log files do"
    )
