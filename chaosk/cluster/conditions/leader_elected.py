"""Whether every partition of a topic is led by a broker that is alive."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.cluster.conditions._partitions import every_partition
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live, PartitionState
from chaosk.spec.inventory import Inventory


class LeaderElected(Condition):
    """Every partition of a topic, or those named, has a leader that the cluster holds to be alive, and that answers.

    It has to answer because the cluster goes on naming a leader that was just killed until its session ends: without
    that, the condition would hold at once after a kill and say nothing of an election.
    """

    spelling: ClassVar[str] = "leader_elected(TOPIC[, PARTITION, …])"
    example: ClassVar[str] = "leader_elected(orders)"

    topic: str
    """The topic."""
    partitions: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """Which of its partitions; none named means all of them."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the cluster and each leader once; raises ClusterError if nobody answers or there is no such topic."""
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
