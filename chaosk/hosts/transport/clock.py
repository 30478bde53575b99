"""A host's wall clock against this machine's, by exchanges of four time stamps as NTP does (RFC 5905, section 8)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from chaosk.hosts.transport._contract import Transport
from chaosk.spec.command import Command, Result

EXCHANGES = 5
"""The one with the shortest round trip counts: its error bound is the smallest."""


@dataclass(frozen=True, slots=True)
class Offset:
    """How far a host's wall clock is ahead of this machine's, in nanoseconds."""

    host: str
    at: int
    """When, nanoseconds of this machine's monotonic clock."""
    offset: int
    error: int
    """The true offset lies within this distance of ``offset``: half of the time the packets were under way."""


def clock(transport: Transport, host: str, exchanges: int = EXCHANGES) -> Offset:
    """Measure a host's offset now; raises HostError or ConnectionLost."""
    command = Command(host=host, argv=("true",), repeatable=True)
    return offset_of([transport.run(command) for _ in range(exchanges)], epoch())


def epoch() -> int:
    """This machine's wall clock minus its monotonic clock, in nanoseconds, now."""
    return time.time_ns() - time.monotonic_ns()


def offset_of(exchanges: Sequence[Result], epoch: int) -> Offset:
    """The best of some exchanges with one host; ``epoch``: see :func:`epoch`, when they took place."""
    return min((_offset(one, epoch) for one in exchanges), key=lambda offset: offset.error)


def _offset(result: Result, epoch: int) -> Offset:
    """From the four stamps of one exchange; ``epoch`` is this machine's wall clock minus its monotonic clock."""
    there = result.host_started - (result.sent + epoch)
    back = result.host_ended - (result.received + epoch)
    under_way = (result.received - result.sent) - (result.host_ended - result.host_started)
    return Offset(result.command.host, result.received, offset=(there + back) // 2, error=max(under_way, 0) // 2 + 1)
