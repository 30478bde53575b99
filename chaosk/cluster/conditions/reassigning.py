"""A reassignment is in progress."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.cluster.conditions._partitions import ids
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class Reassigning(Condition):
    """Some partition of a topic, or each named one, is being moved to other replicas.

    It ends when the new replicas are in sync and the others are gone, or when it is cancelled.
    """

    spelling: ClassVar[str] = "reassigning(TOPIC[, PARTITION, …])"
    example: ClassVar[str] = "reassigning(orders)"

    topic: str
    """The topic."""
    partitions: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """The partitions; by default any of them."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the controller once; raises ClusterError if it does not answer or the cluster has no such topic."""
        moving = live.reassigning(self.topic)
        holds = set(self.partitions) <= set(moving) if self.partitions else bool(moving)
        return Answer(holds=holds, seen=f"{self.topic}: partitions being reassigned: {ids(moving)}")
