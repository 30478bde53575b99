"""A probe's process has ended."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class ProbeEnded(Condition):
    """A probe's process has ended, for any reason."""

    spelling: ClassVar[str] = "probe_ended(PROBE)"
    example: ClassVar[str] = "probe_ended(writer)"

    probe: str
    """The probe's name in the scenario."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the probe alone knows
        """Check the probe's last report; raises ChaoskError if there is no such probe."""
        state = live.probe(self.probe)
        return Answer(holds=state.begun and not state.running, seen=f"probe {self.probe} {state.process()}")
