"""A broker's metadata of a partition, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass

from chaosk.analysis.case import PlaceKey

HOLD = 1_000_000_000
"""Nanoseconds for which a broker's answer remains valid without another one."""
NONE = -1
"""Stands for no leader, an unknown epoch, no replica."""


@dataclass(frozen=True, slots=True, order=True)
class MetadataSpan:
    """State of a partition that one broker reported from ``began`` to before ``ended``, its next other report.

    If no answer followed within ``HOLD``, it ends with the last answer that reported it.
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
    """Number of assigned replicas."""
    isr: int
    """Number of in-sync replicas."""
    last: int
    """Time of the last answer that reported it."""

    @property
    def place(self) -> PlaceKey:
        """Topic and partition."""
        return self.topic, self.partition
