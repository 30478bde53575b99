"""Whether the names of brokers can be looked up."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class NamesKnown(Condition):
    """Every name by which clients know a broker can be looked up by the probes; where they go by address, it is so."""

    spelling: ClassVar[str] = "names_known"
    example: ClassVar[str] = "names_known"

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Look all of them up, as probes do."""
        unknown = live.unknown_names()
        return Answer(holds=not unknown, seen=seen(unknown, inventory))


def seen(unknown: tuple[str, ...], inventory: Inventory) -> str:
    """What was seen, in words."""
    every = inventory.names()
    return f"{len(every) - len(unknown)} of {len(every)} names known" + (
        f", not {', '.join(unknown)}" if unknown else ""
    )
