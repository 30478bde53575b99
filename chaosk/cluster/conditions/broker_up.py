"""A broker is part of the cluster and answers."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.errors import UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class BrokerUp(Condition):
    """A broker is considered alive by the cluster, and answers a request itself.

    Both are necessary. A broker that was just killed is considered alive until its session ends, and one that is cut
    off from its peers still answers. Its leadership and its replicas' state do not matter.
    """

    spelling: ClassVar[str] = "broker_up(ID)"
    example: ClassVar[str] = "broker_up(2)"

    id: int
    """Broker id."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask the cluster and the broker once; if the cluster does not answer, no broker is up."""
        if self.id not in inventory.brokers:
            raise UsageError(f"broker_up({self.id}): the inventory has no such broker")
        if not live.broker_answers(self.id):
            return Answer(holds=False, seen=f"broker {self.id} does not answer")
        if self.id not in live.brokers():
            return Answer(holds=False, seen=f"broker {self.id} answers, and the cluster does not hold it to be alive")
        return Answer(holds=True, seen=f"broker {self.id} answers and is alive to the cluster")
