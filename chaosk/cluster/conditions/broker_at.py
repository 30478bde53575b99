"""A broker's name resolves to an address for probes."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.errors import UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.fields import Ip
from chaosk.spec.inventory import Inventory


class BrokerAt(Condition):
    """Every name by which clients know a broker resolves for probes to one address, and to no other.

    It does not show that the broker answers there; broker_up does.
    """

    spelling: ClassVar[str] = "broker_at(ID, ADDRESS)"
    example: ClassVar[str] = "broker_at(2, 192.0.2.99)"

    id: int
    """Broker id."""
    address: Ip
    """IPv4 or IPv6."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Resolve the names as probes do; an address resolves to itself."""
        if self.id not in inventory.brokers:
            raise UsageError(f"broker_at({self.id}, {self.address}): the inventory has no such broker")
        names = {at.address for at in inventory.brokers[self.id].listeners.values() if at.clients}
        found = {name: live.addresses(name) for name in sorted(names)}
        seen = "; ".join(f"{name} leads to {', '.join(at) or 'nothing'}" for name, at in found.items())
        return Answer(
            holds=bool(found) and all(at == (self.address,) for at in found.values()),
            seen=seen or "no listener of it is for clients",
        )
