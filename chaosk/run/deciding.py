"""Whether an entry of the timeline goes ahead, where somebody is asked: after its targets are known, before it acts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from chaosk.core.errors import ChaoskError
from chaosk.planning import preview
from chaosk.run.pace import Pace
from chaosk.rundir.decision import Decision
from chaosk.spec.contracts.step import Fact, Fault, Pause
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry

CHANGED = "asked again: its targets are others now than those that were shown"


class Skipped(ChaoskError):  # noqa: N818 - what happened
    """Somebody decided that an entry does not act, or it follows one that did not."""


@dataclass(frozen=True, slots=True)
class Question:
    """One entry that is about to act, as it is shown to who decides."""

    entry: str
    step: str
    says: str
    """What the step does, in words."""
    targets: tuple[str, ...]
    """The nodes, and where they are."""
    does: tuple[str, ...]
    """The commands, scripts shortened."""
    undoes: tuple[str, ...]
    lasts: str
    lease: str
    """How long which hosts keep the undo once chaosk is gone; empty where there is none to keep."""
    again: str = ""
    """Why it is asked again."""


class Decider(Protocol):
    """Who is asked."""

    def attach(self, write: Callable[[Decision], None]) -> None:
        """From now on every decision and note is written down, those made before as well."""
        ...

    def decide(self, question: Question, halt: threading.Event) -> Decision:
        """What was decided: go or skip. Raises Interrupted once ``halt`` is set."""
        ...

    @property
    def ended(self) -> str | None:
        """Why this one had the run stopped, in words; None if it did not."""
        ...


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks about every entry that does something to somebody; the timeline stands still meanwhile."""

    decider: Decider
    pace: Pace
    inventory: Inventory

    def settled(self, entry: Entry, aim: Callable[[], Fault], halt: threading.Event) -> Fault:
        """The fault to inject, aimed as it was shown. Raises Skipped, Interrupted, and StepError where ``aim`` does.

        A long question lets a leader move: after a go the entry is aimed again, and asked about again if it would hit
        somebody else than those who were shown.
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

    def _question(self, fault: Fault, entry: Entry, again: str) -> Question:
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


def acts(fault: Fault) -> bool:
    """Whether a fault does anything: a wait does not."""
    return any(not isinstance(deed, Pause | Fact) for deed in fault.inject)
