"""Partitions have the intended replicas."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosk.cluster.conditions._partitions import every_partition, ids
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live, PartitionState
from chaosk.spec.inventory import Inventory


class Assigned(Condition):
    """A partition of a topic, or every one, has its replicas on exactly these brokers, in that order, all in sync."""

    spelling: ClassVar[str] = "assigned(TOPIC, PARTITION|all, BROKER, …)"
    example: ClassVar[str] = "assigned(orders, all, 0, 1, 2)"

    topic: str
    """The topic."""
    partition: Annotated[int, Field(ge=0)] | Literal["all"]
    """The partition, or ``all`` of them."""
    replicas: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)]
    """Broker ids, the preferred leader first."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the cluster once; raises ClusterError if it does not answer or has no such topic."""
        only = () if self.partition == "all" else (self.partition,)
        return every_partition(live, self.topic, self._complaint, f"on {ids(self.replicas)} and in sync", only)

    def _complaint(self, one: PartitionState) -> str | None:
        if one.replicas != self.replicas:
            return f"on {ids(one.replicas)}"
        return f"ISR {ids(one.isr)}" if set(one.isr) != set(one.replicas) else None
