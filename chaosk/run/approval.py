"""The operator's decision on an entry of the timeline: after its targets are known, before it acts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from chaosk.core.errors import ChaoskError
from chaosk.planning import preview
from chaosk.run.timeline_clock import TimelineClock
from chaosk.rundir.decision import Decision
from chaosk.spec.contracts.step import Fact, Pause, PreparedFault
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry

CHANGED = "asked again: its targets are others now than those that were shown"


class Skipped(ChaoskError):  # noqa: N818 - what happened
    """The operator skipped an entry, or it follows a skipped one."""


@dataclass(frozen=True, slots=True)
class Question:
    """One entry that is about to act, as it is shown to the operator."""

    entry: str
    step: str
    says: str
    """The step's effect, in words."""
    targets: tuple[str, ...]
    """The nodes, with their hosts."""
    does: tuple[str, ...]
    """The commands, scripts shortened."""
    undoes: tuple[str, ...]
    lasts: str
    lease: str
    """Duration of the leases and their hosts; empty if there is none."""
    again: str = ""
    """Reason for asking again."""


class Decider(Protocol):
    """The operator's side of a decision."""

    def attach(self, write: Callable[[Decision], None]) -> None:
        """Write down every decision and note from now on, and first the earlier ones."""
        ...

    def decide(self, question: Question, halt: threading.Event) -> Decision:
        """Return the decision: go or skip. Raises Interrupted once ``halt`` is set."""
        ...

    @property
    def ended(self) -> str | None:
        """Reason why the operator stopped the run; None if it was not the operator."""
        ...


@dataclass(frozen=True, slots=True)
class Approval:
    """Asks about every entry that has an effect; the timeline is paused until the answer."""

    decider: Decider
    pace: TimelineClock
    inventory: Inventory

    def settled(self, entry: Entry, aim: Callable[[], PreparedFault], halt: threading.Event) -> PreparedFault:
        """Return the fault to inject, with the targets that were shown; raises Skipped, Interrupted, StepError.

        A leader may move before the answer. So the entry is aimed again after a go, and asked about again if its
        targets have changed.
        """
        with self.pace.still():
            fault, again = aim(), ""
            while acts(fault):
                decision = self.decider.decide(self._question(fault, entry, again), halt)
                if decision.what == "skip":
                    raise Skipped(f"by {decision.who}, {decision.time}")
                shown, fault, again = fault, aim(), CHANGED
                if fault == shown:
                    break
            return fault

    def _question(self, fault: PreparedFault, entry: Entry, again: str) -> Question:
        return Question(
            entry=entry.name,
            step=entry.kind,
            says=preview.says(entry),
            targets=tuple(str(node) for node in fault.targets),
            does=tuple(preview.lines(fault.inject)),
            undoes=tuple(preview.lines(fault.undo)),
            lasts=preview.lasts(entry),
            lease=preview.lease_of(fault, entry, self.inventory),
            again=again,
        )


def acts(fault: PreparedFault) -> bool:
    """Return True if a fault has any effect: a wait has none."""
    return any(not isinstance(deed, Pause | Fact) for deed in fault.inject)
