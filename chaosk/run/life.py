"""What became of one fault, as a value that its driver fills in, and as a row of events."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from chaosk.run.lasting import Look
from chaosk.run.vigil import Vigil
from chaosk.spec.contracts.step import Fault


@dataclass(slots=True)
class Life:
    """What became of one fault so far. Times are monotonic nanoseconds."""

    fault: Fault
    invoked: int
    armed: bool = False
    """Whether there may be something to undo."""
    applied: int | None = None
    verified: int | None = None
    """Since when it is watched."""
    looked: int | None = None
    """When it was last looked at, right before its undo."""
    told: bool = False
    """Whether somebody was told that it is not in place any more."""
    heal_invoked: int | None = None
    healed: int | None = None
    took: bool = False
    why: list[str] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    """What was seen of it, by several threads: first what verified it."""
    vigil: Vigil | None = None
    """Who asks what no host can look at."""
    left: str | None = None
    """A lease that could not be disarmed, in words: it will carry out the undo once more."""
    over: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def undone(self) -> bool:
        """Whether nothing of it is left: its undo was verified, or it leaves nothing."""
        return self.healed is not None or not self.armed

    def row(self) -> tuple[object, ...]:
        """Its row in the table ``faults``."""
        targets = ", ".join(str(node) for node in self.fault.targets)
        return (
            self.fault.name, self.fault.step, targets, self.invoked, self.applied, self.heal_invoked, self.healed,
            self.took, self.undone, "; ".join(self.why) or None,
        )  # fmt: skip
