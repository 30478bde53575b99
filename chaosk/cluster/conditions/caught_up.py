"""A consumer has read up to the end."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class CaughtUp(Condition):
    """A consuming probe runs and is at most so many records behind the end; the default is none."""

    spelling: ClassVar[str] = "caught_up(PROBE[, RECORDS])"
    example: ClassVar[str] = "caught_up(reader)"

    probe: str
    """The probe."""
    records: Annotated[int, Field(ge=0)] = 0
    """The permitted number of unread records."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the probe alone knows
        """Check the probe's last report; raises ClusterError while its lag is unknown."""
        state = live.probe(self.probe)
        if not state.running:
            return Answer(holds=False, seen=f"{self.probe}: not running")
        if state.lag is None:
            raise ClusterError(f"{self.probe}: how far it is behind is not known")
        return Answer(holds=state.lag <= self.records, seen=f"{self.probe}: {state.lag} records behind")
