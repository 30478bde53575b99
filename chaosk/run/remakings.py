"""When topics were deleted and made again: the moments that part what a run saw of one from what it saw of the next."""

from __future__ import annotations

from collections.abc import Callable

from chaosk.run.clock import now
from chaosk.spec.topic_shape import TopicShape


def _nowhere(topic: str, gone: int, made: int) -> None:
    """There is no run that could write it down."""


class Remakings:
    """Notes when a topic was gone, and tells it as soon as the controller is about to be asked to make it again."""

    def __init__(self) -> None:
        """Tells nobody as yet."""
        self.tell: Callable[[str, int, int], None] = _nowhere
        self._gone: dict[str, int] = {}

    def gone(self, topic: str) -> None:
        """No broker knows the topic any more."""
        self._gone[topic] = now()

    def making(self, shape: TopicShape, identity: Callable[[], str | None]) -> None:
        """It is about to be made: told once for each time that it was gone.

        Where it is there already, a host has made it, at some time since it was gone. One that nobody saw gone, and
        that still has its old id, has not been made again. Raises ClusterError where no broker tells.
        """
        there = identity()
        if there == shape.identity:
            return
        at = now()
        since = self._gone.pop(shape.topic, at)
        self.tell(shape.topic, since, since if there is not None else at)
