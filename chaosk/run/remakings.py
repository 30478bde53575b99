"""Changes of the cluster, with the times at which topics were recreated.

These times separate the events of the old topic from those of the new one.
"""

from __future__ import annotations

from collections.abc import Callable

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.operate import operate
from chaosk.cluster.remake import identity_of
from chaosk.run.clock import now
from chaosk.spec.contracts.step import DeleteTopic, MakeTopic, Operation
from chaosk.spec.topic_shape import TopicShape


def _nowhere(topic: str, gone: int, made: int) -> None:
    """Drop the event: there is no run to record it."""


class Remakings:
    """Remembers the deletion of a topic, and reports it just before the controller is asked to create it again."""

    def __init__(self, brokers: Brokers) -> None:
        """Report to nothing until ``tell`` is set."""
        self._brokers = brokers
        self.tell: Callable[[str, int, int], None] = _nowhere
        self._gone: dict[str, int] = {}

    def operate(self, operation: Operation) -> None:
        """Execute an operation: see :func:`chaosk.cluster.operate.operate`."""
        if isinstance(operation, MakeTopic):
            self.making(operation.shape, lambda: identity_of(self._brokers, operation.shape.topic))
        operate(self._brokers, operation)
        if isinstance(operation, DeleteTopic):
            self.gone(operation.topic)

    def gone(self, topic: str) -> None:
        """Note that no broker knows the topic any more."""
        self._gone[topic] = now()

    def making(self, shape: TopicShape, identity: Callable[[], str | None]) -> None:
        """Report that the topic is about to be created, once for each deletion.

        If it exists already, a host has created it at some time since the deletion. A topic without an observed
        deletion and with its old id was not recreated. Raises ClusterError if no broker answers.
        """
        there = identity()
        if there == shape.identity:
            return
        at = now()
        since = self._gone.pop(shape.topic, at)
        self.tell(shape.topic, since, since if there is not None else at)
