"""Add partitions to a topic while clients use it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.spec.contracts.step import AddPartitions, Fact, Site
from chaosk.steps._partitions import TopicStep, owned
from chaosk.steps._phases import Phases

WITHIN = 30.0
"""Time-out in seconds until the new partitions have leaders and all replicas in sync."""


class CreatePartitions(TopicStep):
    """Add partitions to a topic. Kafka cannot remove them, so they stay until the next run deletes the topic.

    From then on keys map to other partitions than before. Clients notice at their next metadata request: after
    ``topic.metadata.refresh.interval.ms``, five minutes in librdkafka unless a probe's ``config`` sets it, or sooner if
    an event makes them ask. A consumer with ``auto.offset.reset: latest`` starts new partitions at their end. If it
    notices later than a producer, it never gets the records written there until then. The step takes once each
    partition has a leader and all replicas in sync. If brokers have no racks, the new replicas are assigned round-robin
    by broker id, as for all topics of chaosk.
    """

    harmless: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
create_partitions: {topic: orders, count: 12}
"""

    count: Annotated[int, Field(ge=2, le=10_000)]
    """The new number of partitions."""

    def phases(self, site: Site) -> Phases:  # noqa: ARG002 - the same everywhere
        """Send one request, for a topic that chaosk created."""
        says = f"{self.topic} has {self.count} partitions, with leaders and all replicas in sync"
        return Phases(
            before=[owned(self.topic)],
            inject=[AddPartitions(topic=self.topic, count=self.count)],
            verify=[Fact(says=says, query=f"partition_count({self.topic}, {self.count})", within=WITHIN)],
        )
