"""All replicas of a broker are in sync."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.conditions._partitions import SHOWN, ids
from chaosk.core.errors import UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class ReplicasInSync(Condition):
    """A broker is in the ISR of every partition of which it has a replica, in any topic.

    It also holds for a broker without any replica.
    """

    spelling: ClassVar[str] = "replicas_in_sync(BROKER)"
    example: ClassVar[str] = "replicas_in_sync(2)"

    broker: int
    """Broker id."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask the cluster once; raises ClusterError if it does not answer."""
        if self.broker not in inventory.brokers:
            raise UsageError(f"replicas_in_sync({self.broker}): the inventory has no such broker")
        own = [one for one in live.every_partition() if self.broker in one.replicas]
        behind = [one for one in own if self.broker not in one.isr]
        if not behind:
            return Answer(holds=True, seen=f"broker {self.broker} is in sync with {len(own)} partitions")
        shown = ", ".join(f"{one.topic}-{one.partition} (ISR {ids(one.isr)})" for one in behind[:SHOWN])
        more = f", and {len(behind) - SHOWN} more" if len(behind) > SHOWN else ""
        return Answer(holds=False, seen=f"broker {self.broker} is not in sync with {shown}{more}")
