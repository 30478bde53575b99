"""Cancel the reassignment of partitions."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.step import Reassign, Site
from chaosk.steps._partitions import Numbers, TopicStep, moving, still
from chaosk.steps._phases import Phases

WITHIN = 30.0
"""Time-out in seconds until the controller has cancelled it."""


class CancelReassignment(TopicStep):
    """Cancel a reassignment in progress: the old replicas stay, and the copied data are deleted.

    The order of the old replicas may change, and the preferred leader with it: the controller keeps those first that
    were to stay (seen on Kafka 3.9).

    Without a reassignment in progress it does not take. One lasts long enough if it moves much data, or if it moves to
    a broker that was frozen just before; the cluster refuses a move to a broker that it knows to be dead. It takes once
    the controller has no reassignment of the partitions in progress.
    """

    example: ClassVar[str] = """\
at: 20s
cancel_reassignment: {topic: orders}
"""

    partitions: Numbers | None = None
    """The partitions; default: all that are being reassigned."""

    def phases(self, site: Site) -> Phases:  # noqa: ARG002 - the same everywhere
        """Send one request for all partitions, of which a reassignment is in progress."""
        return Phases(
            before=[moving(self.topic, self.partitions)],
            inject=[Reassign(topic=self.topic, partitions=self.partitions, replicas=None)],
            verify=[still(self.topic, self.partitions, WITHIN)],
        )
