"""A probe has made progress."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.spec.contracts.condition import Answer, Ask, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class Progress(Condition):
    """A probe has had so many more successes since the entry began to wait: acknowledgements, deliveries, checks."""

    spelling: ClassVar[str] = "progress(PROBE, COUNT)"
    example: ClassVar[str] = "progress(writer, 1000)"

    probe: str
    """The probe."""
    count: Annotated[int, Field(ge=1)]
    """Number of records acknowledged (produce), delivered (consume), committed (transform), or of checks or calls."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the probe alone knows
        """Count since the probe's process started."""
        return self._since(0, live)

    def from_now(self, live: Live) -> Ask:
        """Count from now on; for a restarted process, count from its start."""
        base = live.probe(self.probe).ok
        return lambda later, _: self._since(base, later)

    def _since(self, base: int, live: Live) -> Answer:
        ok = live.probe(self.probe).ok
        done = ok - base if ok >= base else ok
        return Answer(holds=done >= self.count, seen=f"{self.probe}: {done} of {self.count} more")
