"""Executes entries of the timeline: resolves an entry's target now, injects its fault, and returns its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from chaosk.core.errors import ChaoskError
from chaosk.planning.plan import Plan
from chaosk.planning.resolve import aim
from chaosk.run.admission import Admission
from chaosk.run.approval import Approval, Skipped
from chaosk.run.display import Display
from chaosk.run.executor import Executor
from chaosk.run.faults import Faults
from chaosk.spec.contracts.condition import Answer, counting
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.expression import parse_condition
from chaosk.spec.scenario import Entry

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FaultActor:
    """Executes entries for the timeline: see :class:`chaosk.run.timeline.Actor`."""

    plan: Plan
    hands: Executor
    faults: Faults
    display: Display
    admission: Admission
    before_undo: Callable[[], None]
    """Called before each undo, with all faults still in place."""
    asking: Approval | None = None
    """Asks the operator before an entry acts; None to ask nothing."""

    def start(self, entry: Entry, stop: threading.Event) -> Callable[[], None]:
        """Aim, ask, inject, verify; return the function that ends the fault. Raises StepError, Interrupted, Skipped."""
        fault = self._aimed(entry) if self.asking is None else self._settled(self.asking, entry, stop)
        log.info("fault", entry=entry.name, step=entry.kind, targets=fault.whom)
        self.display.say(f"{entry.name}: {entry.kind} {fault.whom}".rstrip())
        try:
            self.admission.admit(fault, entry)
            life = self.faults.inject(fault, entry, stop)
        except ChaoskError as error:
            self.display.say(f"{entry.name}: {error}")
            raise
        finally:
            self._forget(entry.name)
        self.display.say(f"{entry.name}: verified")

        def end() -> None:
            self.before_undo()
            self.display.say(f"{entry.name}: undoing")
            self.faults.end(life)
            self._forget(entry.name)
            self.display.say(f"{entry.name}: {'healed' if life.undone else 'NOT HEALED: ' + '; '.join(life.why)}")

        return end

    def _aimed(self, entry: Entry) -> PreparedFault:
        return aim(entry, self.plan.inventory, self.hands.live, self.plan.seed, self.plan.run_id)

    def _settled(self, asking: Approval, entry: Entry, stop: threading.Event) -> PreparedFault:
        try:
            return asking.settled(entry, lambda: self._aimed(entry), stop)
        except Skipped as skipped:
            self.display.say(f"{entry.name}: skipped {skipped}")
            raise

    def _forget(self, name: str) -> None:
        """Remove faults that are over, or never began, from the faults in place."""
        over = self.faults.over()
        self.admission.forget(over if self.faults.begun(name) else over | {name})

    def asks(self, condition: str) -> Callable[[], Answer]:
        """Return a function that evaluates a condition, counting from now; no answer from the cluster is False."""
        asking = counting(parse_condition(condition))

        def ask() -> Answer:
            try:
                return asking(self.hands.live, self.plan.inventory)
            except ChaoskError as error:
                return Answer(holds=False, seen=str(error))

        return ask
