"""Every partition of a topic has a live leader."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.cluster.conditions._partitions import every_partition
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live, PartitionState
from chaosk.spec.inventory import Inventory


class LeaderElected(Condition):
    """Every partition of a topic, or each named one, has a leader that the cluster considers alive and that answers.

    It has to answer because the cluster names a killed leader until its session ends. Without that, the condition would
    hold right after a kill, before any election.
    """

    spelling: ClassVar[str] = "leader_elected(TOPIC[, PARTITION, …])"
    example: ClassVar[str] = "leader_elected(orders)"

    topic: str
    """The topic."""
    partitions: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """The partitions; by default all."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the cluster and each leader once; raises ClusterError without an answer, or if there is no such topic."""
        alive = live.brokers()
        leaders = {one.leader for one in live.partitions(self.topic)}
        answering = {leader for leader in leaders & set(alive) if live.broker_answers(leader)}

        def complaint(one: PartitionState) -> str | None:
            if one.leader < 0:
                return "no leader"
            if one.leader not in alive:
                return f"its leader, broker {one.leader}, is not alive"
            return None if one.leader in answering else f"its leader, broker {one.leader}, does not answer"

        return every_partition(live, self.topic, complaint, "each with a leader that is alive", self.partitions)
