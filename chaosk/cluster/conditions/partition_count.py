"""A topic has a given number of partitions."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.cluster.conditions._partitions import every_partition
from chaosk.cluster.conditions.isr_full import complaint
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class PartitionCount(Condition):
    """A topic has exactly so many partitions, each with a leader and all replicas in sync."""

    spelling: ClassVar[str] = "partition_count(TOPIC, COUNT)"
    example: ClassVar[str] = "partition_count(orders, 12)"

    topic: str
    """The topic."""
    count: Annotated[int, Field(ge=1)]
    """The number of partitions."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the cluster once; raises ClusterError if it does not answer or has no such topic."""
        found = len(live.partitions(self.topic))
        if found != self.count:
            return Answer(holds=False, seen=f"{self.topic}: {found} partitions")
        return every_partition(live, self.topic, complaint, "all replicas in sync")
