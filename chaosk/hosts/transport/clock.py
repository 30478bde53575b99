"""Measure a host's wall clock against this machine's, by four time stamps as in NTP (RFC 5905, section 8)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from chaosk.hosts.transport._contract import Transport
from chaosk.spec.command import Command, Result

EXCHANGES = 5
"""Number of exchanges; the one with the shortest round trip is used, as its error bound is the smallest."""


@dataclass(frozen=True, slots=True)
class Offset:
    """A host's wall clock minus this machine's, in nanoseconds."""

    host: str
    at: int
    """Time of the measurement, in nanoseconds of this machine's monotonic clock."""
    offset: int
    error: int
    """Error bound: half of the time that the packets were under way."""


def clock(transport: Transport, host: str, exchanges: int = EXCHANGES) -> Offset:
    """Measure a host's offset now; raises HostError or ConnectionLost."""
    command = Command(host=host, argv=("true",), repeatable=True)
    return offset_of([transport.run(command) for _ in range(exchanges)], epoch())


def epoch() -> int:
    """Return this machine's wall clock minus its monotonic clock, in nanoseconds."""
    return time.time_ns() - time.monotonic_ns()


def offset_of(exchanges: Sequence[Result], epoch: int) -> Offset:
    """Return the best offset from exchanges with one host; ``epoch``: :func:`epoch` at that time."""
    return min((_offset(one, epoch) for one in exchanges), key=lambda offset: offset.error)


def _offset(result: Result, epoch: int) -> Offset:
    """Compute the offset from the four stamps of one exchange; ``epoch``: wall clock minus monotonic clock, here."""
    there = result.host_started - (result.sent + epoch)
    back = result.host_ended - (result.received + epoch)
    under_way = (result.received - result.sent) - (result.host_ended - result.host_started)
    return Offset(result.command.host, result.received, offset=(there + back) // 2, error=max(under_way, 0) // 2 + 1)
