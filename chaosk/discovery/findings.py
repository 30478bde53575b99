"""What one source says about a cluster. Values; no network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Place = tuple[str, ...]
"""The keys that lead to a value in the inventory, like ``("brokers", "1", "config")``."""
Plain = str | int | bool
Value = Plain | tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class Learned:
    """A value of the inventory, and where it was learned."""

    place: Place
    value: Value
    source: str
    """For a comment, like ``advertised.listeners (DescribeConfigs)``."""
    inferred: bool = False
    """True if it follows from other facts: a fact of any source is preferred."""


@dataclass(frozen=True, slots=True)
class Unlearned:
    """A value of the inventory that no source has: a question stands in its place."""

    place: Place
    asks: str
    """The question, with the way to its answer."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment above a key of the inventory, for facts that it has no key for."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class QuorumMember:
    """A controller or ZooKeeper node that another server names."""

    number: int | None
    """Its node id; None if it is named by its address only."""
    address: str
    port: int
    source: str
    listener: str | None = None
    """The listener of a controller, if it is told."""


@dataclass(frozen=True, slots=True)
class Findings:
    """All that one source says."""

    facts: tuple[Learned, ...] = ()
    questions: tuple[Unlearned, ...] = ()
    remarks: tuple[Remark, ...] = ()
    addresses: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    """The network addresses of each server, like ``("brokers", "1")``; they tell on which host it is."""
    voters: tuple[QuorumMember, ...] = ()
    """The controllers of a KRaft quorum."""
    keepers: tuple[QuorumMember, ...] = ()
    """The nodes of ``zookeeper.connect``."""
