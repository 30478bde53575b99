"""Whether every partition of a topic is led by its preferred leader."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.live import Live, PartitionState
from chaosk.conditions._contract import Answer, Condition
from chaosk.conditions._partitions import every_partition
from chaosk.inventory import Inventory


class PreferredLeaders(Condition):
    """Every partition of a topic is led by its preferred leader, the first of its replicas."""

    spelling: ClassVar[str] = "preferred_leaders(TOPIC)"
    example: ClassVar[str] = "preferred_leaders(orders)"

    topic: str
    """The topic."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the cluster once; raises ClusterError if it does not answer or has no such topic."""
        return every_partition(live, self.topic, _complaint, "each led by its preferred leader")


def _complaint(one: PartitionState) -> str | None:
    if one.leader == one.replicas[0]:
        return None
    led = f"led by broker {one.leader}" if one.leader >= 0 else "no leader"
    return f"{led}, preferred is {one.replicas[0]}"
