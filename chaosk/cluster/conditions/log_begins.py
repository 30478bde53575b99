"""The beginning of a log has been deleted."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class LogBegins(Condition):
    """The log of a partition begins at an offset or beyond it: retention or a deletion of records got that far."""

    spelling: ClassVar[str] = "log_begins(TOPIC, PARTITION, OFFSET)"
    example: ClassVar[str] = "log_begins(orders, 0, 1)"

    topic: str
    """The topic."""
    partition: Annotated[int, Field(ge=0)]
    """The partition."""
    offset: Annotated[int, Field(ge=0)]
    """The smallest first offset."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the leader once; raises ClusterError if it does not answer, or if there is no such partition."""
        found = live.log_start(self.topic, self.partition)
        seen = f"{self.topic}-{self.partition}: its log begins at {found}"
        return Answer(holds=found >= self.offset, seen=seen)
