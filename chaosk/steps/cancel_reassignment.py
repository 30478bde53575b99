"""Ask the controller to stop moving partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.spec.contracts.step import Deed, Fact, Reassign, Site, Step
from chaosk.steps._partitions import Numbers, moving, same_topic, still

WITHIN = 30.0
"""Seconds until the controller has let go of it."""


class CancelReassignment(Step):
    """Cancel a reassignment that is under way: the old replicas stay, and what was copied is thrown away.

    The old replicas may come out in another order, so with another preferred leader: the controller keeps those that
    were to stay in front (seen on Kafka 3.9).

    Something has to be under way, or it does not take: the move of much data, or one to a broker that was frozen just
    before (to one that the cluster knows to be dead no move is accepted). It takes once the controller has nothing of
    it under way any more.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 20s
cancel_reassignment: {topic: orders}
"""

    topic: str
    """The topic, one of the scenario's."""
    partitions: Numbers | None = None
    """Which of its partitions; without it all that are being moved."""

    def targets(self) -> tuple[str, ...]:
        """None: the controller is asked, whoever it is."""
        return ()

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """The topic's replicas."""
        yield same_topic(self.topic)

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Something is under way."""
        yield moving(self.topic, self.partitions)

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """One request for all of them."""
        yield Reassign(topic=self.topic, partitions=self.partitions, replicas=None)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Nothing is under way any more."""
        yield still(self.topic, self.partitions, WITHIN)
