"""Give a topic more partitions while clients use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.spec.contracts.step import AddPartitions, Deed, Fact, Site, Step
from chaosk.spec.harm import Harm
from chaosk.steps._partitions import owned, same_topic

WITHIN = 30.0
"""Seconds until the new partitions have leaders, and all replicas in sync."""


class CreatePartitions(Step):
    """Give a topic more partitions; it keeps them, since Kafka cannot take them away, until the next run deletes it.

    From then on keys go to other partitions than before. Clients notice when they next ask for metadata: after
    ``topic.metadata.refresh.interval.ms``, five minutes in librdkafka unless a probe's ``config`` sets it, or sooner
    when something makes them ask. A consumer that notices later than a producer, and begins new partitions at their end
    (``auto.offset.reset: latest``), never gets what was written there meanwhile. It takes once each partition has a
    leader, and all replicas in sync. Where brokers have no racks, the new replicas go round the brokers by id, as
    those of chaosk's topics do.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 10s
create_partitions: {topic: orders, count: 12}
"""

    topic: str
    """The topic, one of the scenario's."""
    count: Annotated[int, Field(ge=2, le=10_000)]
    """How many partitions it has then."""

    def targets(self) -> tuple[str, ...]:
        """None: the controller is asked, whoever it is."""
        return ()

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: everybody goes on serving."""
        yield from ()

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """The topic's replicas."""
        yield same_topic(self.topic)

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It is chaosk's own topic."""
        yield owned(self.topic)

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """One request."""
        yield AddPartitions(topic=self.topic, count=self.count)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """They are there, and whole."""
        says = f"{self.topic} has {self.count} partitions, with leaders and all replicas in sync"
        yield Fact(says=says, query=f"partition_count({self.topic}, {self.count})", within=WITHIN)
