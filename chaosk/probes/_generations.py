"""A member's generation of its group, sampled: one row of ``generations`` per second, and one for each change.

A rebalance that leaves a member all its partitions causes no event, but a new generation. librdkafka discloses the
generation only in the metadata that a consumer passes to a transactional producer: seven bytes of a name, then the
number in native byte order. Any other format is ignored.
"""

from __future__ import annotations

import sys
from typing import Protocol

from chaosk.spec.contracts.probe import EventLog

EVERY = 1_000_000_000
"""Nanoseconds between two rows without a change."""
_LOOK = EVERY // 5
_NAME = b"CGMDv2:"
_END = len(_NAME) + 4


class _Member(Protocol):
    def consumer_group_metadata(self) -> object: ...


class GenerationSampler:
    """Samples the generations of one incarnation."""

    def __init__(self, log: EventLog, who: tuple[str, int], group: str | None) -> None:
        """Pass None without a group, or with manual assignment: there is no generation then."""
        self._log, self._who, self._group = log, who, group
        self._told: tuple[int, int] | None = None
        self._next = 0

    def look(self, member: _Member, now: int) -> None:
        """Read the client's local state five times a second; write a new generation, or the same one after a second."""
        if self._group is None or now < self._next:
            return
        self._next = now + _LOOK
        known = generation(member.consumer_group_metadata())
        if known is None:
            return
        if self._told is None or known != self._told[0] or now - self._told[1] >= EVERY:
            self._log.write("generations", (*self._who, self._group, now, known))
            self._told = (known, now)


def generation(metadata: object) -> int | None:
    """Return the generation in a consumer's metadata; None without membership, or for an unknown format."""
    if not isinstance(metadata, bytes) or not metadata.startswith(_NAME) or len(metadata) < _END:
        return None
    number = int.from_bytes(metadata[len(_NAME) : _END], sys.byteorder, signed=True)
    return number if number >= 0 else None
