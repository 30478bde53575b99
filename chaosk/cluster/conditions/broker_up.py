"""Whether a broker is part of the cluster and answers."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.errors import UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class BrokerUp(Condition):
    """A broker is alive in the eyes of the cluster, and answers a request itself.

    Both, because a broker that was just killed stays alive to the cluster until its session ends, and one that is cut
    off from its peers still answers. What it leads or has in sync does not matter here.
    """

    spelling: ClassVar[str] = "broker_up(ID)"
    example: ClassVar[str] = "broker_up(2)"

    id: int
    """Broker id."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask the cluster and the broker once; a cluster that does not answer has no broker up."""
        if self.id not in inventory.brokers:
            raise UsageError(f"broker_up({self.id}): the inventory has no such broker")
        if not live.broker_answers(self.id):
            return Answer(holds=False, seen=f"broker {self.id} does not answer")
        if self.id not in live.brokers():
            return Answer(holds=False, seen=f"broker {self.id} answers, and the cluster does not hold it to be alive")
        return Answer(holds=True, seen=f"broker {self.id} answers and is alive to the cluster")
