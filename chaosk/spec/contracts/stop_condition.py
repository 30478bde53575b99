"""What a stop condition is: a look at the cluster, again and again while a run lasts, that says why it has to stop.

Its YAML name is its file name, its YAML keys are its fields. Each has a thread of its own, so that one that waits for
an answer delays no other; a look that takes long delays only the next one of its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

from chaosk.core.model import Model


@dataclass(frozen=True, slots=True)
class Seen:
    """What a condition saw that must not be. ``at``: when, nanoseconds of the monotonic clock."""

    at: int
    what: str


@dataclass(frozen=True, slots=True)
class Strained:
    """A partition of somebody else's topic that has no leader, or not all its replicas in sync."""

    topic: str
    partition: int
    leader: int
    """-1 for none."""
    in_sync: int
    replicas: int
    least: int
    """The topic's ``min.insync.replicas``."""
    offline: float = 0.0
    """Seconds that it has been without a leader, as far as was looked."""

    @property
    def name(self) -> str:
        """For messages, like ``payments-3``."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Change:
    """By how much a probe's counts grew over a stretch of time."""

    probe: str
    ok: int
    bad: int
    """Failed, of unknown fate, or reported as errors."""


class Sight(Protocol):
    """What a stop condition can look at. No call waits for long, or raises but ChaoskError."""

    def strained(self) -> tuple[int, tuple[Strained, ...]] | None:
        """When the watcher looked last (monotonic nanoseconds) and what it saw; None before its first look."""
        ...

    def changes(self, window: float) -> tuple[int, tuple[Change, ...]] | None:
        """When probes were looked at, and what changed in the ``window`` seconds before; None if not yet so long."""
        ...

    def unreachable(self, within: float) -> tuple[int, dict[str, str]]:
        """When hosts were asked, and why some did not answer in time; those in the hands of a fault are left out."""
        ...


class StopCondition(Model, ABC):
    """One reason to stop a run."""

    example: ClassVar[str]
    """An item of ``stop_conditions`` in YAML that can be copied."""
    watches_all: ClassVar[bool] = False
    """Whether the watcher has to look at the topics of others, too."""

    def pause(self) -> float:
        """Seconds between two looks."""
        return 0.1

    @abstractmethod
    def look(self, sight: Sight) -> Seen | None:
        """Why the run has to stop; None if it may go on."""
