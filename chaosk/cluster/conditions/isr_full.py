"""Every replica of a topic is in sync."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.conditions._partitions import every_partition, ids
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live, PartitionState
from chaosk.spec.inventory import Inventory


class IsrFull(Condition):
    """Every partition of a topic has a leader, and all its replicas are in sync."""

    spelling: ClassVar[str] = "isr_full(TOPIC)"
    example: ClassVar[str] = "isr_full(orders)"

    topic: str
    """The topic."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the cluster once; raises ClusterError if it does not answer or has no such topic."""
        return every_partition(live, self.topic, complaint, "all replicas in sync")


def complaint(one: PartitionState) -> str | None:
    """Return the complaint about a partition without a leader or a full ISR; None if there is none."""
    if one.leader < 0:
        return "no leader"
    missing = set(one.replicas) - set(one.isr)
    return f"ISR {ids(one.isr)} of {ids(one.replicas)}" if missing else None
