"""Cancel the reassignment of partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.spec.contracts.step import Deed, Fact, Reassign, Site, Step
from chaosk.steps._partitions import Numbers, moving, same_topic, still

WITHIN = 30.0
"""Time-out in seconds until the controller has cancelled it."""


class CancelReassignment(Step):
    """Cancel a reassignment in progress: the old replicas stay, and the copied data are deleted.

    The order of the old replicas may change, and the preferred leader with it: the controller keeps those first that
    were to stay (seen on Kafka 3.9).

    Without a reassignment in progress it does not take. One lasts long enough if it moves much data, or if it moves to
    a broker that was frozen just before; the cluster refuses a move to a broker that it knows to be dead. It takes once
    the controller has no reassignment of the partitions in progress.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 20s
cancel_reassignment: {topic: orders}
"""

    topic: str
    """The topic, one of the scenario's."""
    partitions: Numbers | None = None
    """The partitions; default: all that are being reassigned."""

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """Yield the topic's replicas."""
        yield same_topic(self.topic)

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Require that a reassignment is in progress."""
        yield moving(self.topic, self.partitions)

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Send one request for all partitions."""
        yield Reassign(topic=self.topic, partitions=self.partitions, replicas=None)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify that no reassignment is in progress."""
        yield still(self.topic, self.partitions, WITHIN)
