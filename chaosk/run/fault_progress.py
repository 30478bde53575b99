"""The life of one fault: a value that its driver fills in, and a row of events."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from chaosk.run.lasting import FactCheck
from chaosk.run.vigil import Vigil
from chaosk.spec.contracts.step import PreparedFault


@dataclass(slots=True)
class FaultProgress:
    """The course of one fault so far. Times are monotonic nanoseconds."""

    fault: PreparedFault
    invoked: int
    armed: bool = False
    """True if an undo may be necessary."""
    applied: int | None = None
    verified: int | None = None
    """Start of the watch."""
    looked: int | None = None
    """Time of the last look, right before its undo."""
    told: bool = False
    """True once its absence was reported."""
    heal_invoked: int | None = None
    healed: int | None = None
    took: bool = False
    why: list[str] = field(default_factory=list)
    looks: list[FactCheck] = field(default_factory=list)
    """The looks at it, from several threads, beginning with those that verified it."""
    vigil: Vigil | None = None
    """Watches the facts that no host can watch."""
    left: str | None = None
    """A message about a lease that could not be disarmed: its host will execute the undo once more."""
    over: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def undone(self) -> bool:
        """True if nothing of it is left: its undo was verified, or it needs none."""
        return self.healed is not None or not self.armed

    def row(self) -> tuple[object, ...]:
        """Return its row of the table ``faults``."""
        targets = ", ".join(str(node) for node in self.fault.targets)
        return (
            self.fault.name, self.fault.step, targets, self.invoked, self.applied, self.heal_invoked, self.healed,
            self.took, self.undone, "; ".join(self.why) or None,
        )  # fmt: skip
