"""A probe's process is paused."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class ProbeFrozen(Condition):
    """A probe's process exists and was stopped by a signal (SIGSTOP): it does nothing until it is resumed."""

    spelling: ClassVar[str] = "probe_frozen(PROBE)"
    example: ClassVar[str] = "probe_frozen(writer)"

    probe: str
    """The probe's name in the scenario."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the probe alone knows
        """Check its process now; raises ChaoskError if there is no such probe."""
        state = live.probe(self.probe)
        return Answer(holds=state.running and state.frozen, seen=f"probe {self.probe} {state.process()}")
