"""What a broker said of a partition, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass

from chaosk.analysis.case import PlaceKey

HOLD = 1_000_000_000
"""Nanoseconds that a broker's word stands without another answer of it."""
NONE = -1
"""Stands for no leader, an unknown epoch, no replica."""


@dataclass(frozen=True, slots=True, order=True)
class Said:
    """What one broker said of a partition, unchanged from ``began`` on and before ``ended``: until it said otherwise.

    Where no answer followed within ``HOLD`` it ends with the last one that said so.
    """

    topic: str
    partition: int
    asked: int
    began: int
    ended: int
    leader: int
    epoch: int
    preferred: int
    """The first of the assigned replicas."""
    replicas: int
    """How many there are."""
    isr: int
    """How many are in sync."""
    last: int
    """When it said so last."""

    @property
    def place(self) -> PlaceKey:
        """Topic and partition."""
        return self.topic, self.partition
