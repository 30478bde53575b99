"""No name of a broker can be resolved."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.conditions.names_known import seen
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class NamesUnknown(Condition):
    """Clients know brokers by name, and probes can resolve none of the names within a second."""

    spelling: ClassVar[str] = "names_unknown"
    example: ClassVar[str] = "names_unknown"

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Resolve all of them as probes do."""
        unknown = live.unknown_names()
        return Answer(holds=bool(unknown) and set(unknown) == set(inventory.names()), seen=seen(unknown, inventory))
