"""The names of brokers can be resolved."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class NamesKnown(Condition):
    """Every name by which clients know a broker can be resolved by the probes; always true with addresses."""

    spelling: ClassVar[str] = "names_known"
    example: ClassVar[str] = "names_known"

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Resolve all of them as probes do."""
        unknown = live.unknown_names()
        return Answer(holds=not unknown, seen=seen(unknown, inventory))


def seen(unknown: tuple[str, ...], inventory: Inventory) -> str:
    """Describe the result in words."""
    every = inventory.names()
    return f"{len(every) - len(unknown)} of {len(every)} names known" + (
        f", not {', '.join(unknown)}" if unknown else ""
    )
