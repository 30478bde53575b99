"""A topic was made by chaosk."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory


class OwnTopic(Condition):
    """The current topic of this name is the one that chaosk made, or took over empty, before the run.

    A topic that was deleted and recreated by others since is not.
    """

    spelling: ClassVar[str] = "own_topic(TOPIC)"
    example: ClassVar[str] = "own_topic(orders)"

    topic: str
    """The topic."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:  # noqa: ARG002 - the cluster alone knows
        """Ask the cluster once; raises ClusterError if it does not answer."""
        own = live.own_topic(self.topic)
        return Answer(holds=own, seen=f"{self.topic} {'was made' if own else 'is not known to be made'} by chaosk")
