"""Contract of stop conditions: a periodic check of the cluster during a run, which returns a reason to stop.

Its YAML name is its file name, its YAML keys are its fields. Each condition has its own thread, so that a slow check
delays only the next one of the same condition.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

from chaosk.core.model import Model


@dataclass(frozen=True, slots=True)
class StopReason:
    """A violated condition, seen at ``at`` (nanoseconds of the monotonic clock)."""

    at: int
    what: str


@dataclass(frozen=True, slots=True)
class Strained:
    """A partition of somebody else's topic without a leader, or with replicas out of sync."""

    topic: str
    partition: int
    leader: int
    """-1 for none."""
    in_sync: int
    replicas: int
    least: int
    """The topic's ``min.insync.replicas``."""
    offline: float = 0.0
    """Observed seconds without a leader."""

    @property
    def name(self) -> str:
        """Its name in messages, like ``payments-3``."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class OperationCounts:
    """The growth of a probe's counts over a period."""

    probe: str
    ok: int
    bad: int
    """Failed, of unknown outcome, or reported as errors."""


class StopConditionInputs(Protocol):
    """Observations available to stop conditions. No call waits for long, or raises anything but ChaoskError."""

    def strained(self) -> tuple[int, tuple[Strained, ...]] | None:
        """Return the watcher's last sample with its time (monotonic nanoseconds); None before the first sample."""
        ...

    def changes(self, window: float) -> tuple[int, tuple[OperationCounts, ...]] | None:
        """Return the growth in the last ``window`` seconds, and the sample's time; None before such a time passed."""
        ...

    def unreachable(self, within: float) -> tuple[int, dict[str, str]]:
        """Return the hosts without an answer in time, each with the reason; hosts affected by a fault are left out.

        The first value is the time of the check.
        """
        ...


class StopCondition(Model, ABC):
    """One reason to stop a run."""

    example: ClassVar[str]
    """An item of ``stop_conditions`` in YAML, ready to copy."""
    watches_all: ClassVar[bool] = False
    """True if the watcher has to sample the topics of others, too."""

    def pause(self) -> float:
        """Return the seconds between two checks."""
        return 0.1

    @abstractmethod
    def look(self, sight: StopConditionInputs) -> StopReason | None:
        """Return the reason to stop the run; None to go on."""
