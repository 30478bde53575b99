"""Every partition of a topic is led by its preferred leader."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.cluster.conditions._partitions import every_partition, ids
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live, PartitionState
from chaosk.spec.inventory import Inventory


class PreferredLeaders(Condition):
    """Every partition of a topic, or each named one, is led by its preferred leader, the first of its replicas."""

    spelling: ClassVar[str] = "preferred_leaders(TOPIC[, PARTITION, …])"
    example: ClassVar[str] = "preferred_leaders(orders)"

    topic: str
    """The topic."""
    partitions: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """The partitions; by default all."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the cluster once; raises ClusterError if it does not answer or has no such topic."""
        return every_partition(live, self.topic, _complaint, "each led by its preferred leader", self.partitions)


def _complaint(one: PartitionState) -> str | None:
    if one.replicas[:1] == (one.leader,):
        return None
    led = f"led by broker {one.leader}" if one.leader >= 0 else "no leader"
    return f"{led}, preferred is {ids(one.replicas[:1])}"
