"""Which generation of its group a member is of, sampled: one row of ``generations`` a second, and one for each change.

A rebalance that leaves a member all it has is no event for the member, but a new generation. librdkafka tells the
generation nowhere but in the metadata that it hands from a consumer to a transactional producer: seven bytes of a name
and the number, in the machine's own order. Whatever begins otherwise tells nothing here.
"""

from __future__ import annotations

import sys
from typing import Protocol

from chaosk.spec.contracts.probe import EventLog

EVERY = 1_000_000_000
"""Nanoseconds between two rows where nothing changes."""
_LOOK = EVERY // 5
_NAME = b"CGMDv2:"
_END = len(_NAME) + 4


class _Member(Protocol):
    def consumer_group_metadata(self) -> object: ...


class Generations:
    """Samples those of one incarnation."""

    def __init__(self, log: EventLog, who: tuple[str, int], group: str | None) -> None:
        """Without a group, or for partitions of its own choice, there is none: pass None."""
        self._log, self._who, self._group = log, who, group
        self._told: tuple[int, int] | None = None
        self._next = 0

    def look(self, member: _Member, now: int) -> None:
        """Ask the client, which asks nobody, five times a second; write it down if it is new, or after a second."""
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
    """The generation in a consumer's metadata; None while it is no member, or where these are of another form."""
    if not isinstance(metadata, bytes) or not metadata.startswith(_NAME) or len(metadata) < _END:
        return None
    number = int.from_bytes(metadata[len(_NAME) : _END], sys.byteorder, signed=True)
    return number if number >= 0 else None
