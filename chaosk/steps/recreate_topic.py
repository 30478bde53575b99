"""Delete a topic under its clients, and create it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.core.units import Duration
from chaosk.hosts.commands import brokertool, topictool
from chaosk.spec.contracts.step import Deed, DeleteTopic, Fact, MakeTopic, Pause, Run, Site, Step
from chaosk.spec.topic_shape import TopicShape
from chaosk.steps._partitions import owned, same_topic

WITHIN = 30.0
"""Time-out in seconds until the partitions have leaders and all replicas in sync."""


class RecreateTopic(Step):
    """Delete a topic and create a new one with the same name, partitions, replicas and settings.

    Its records are gone for good, and offsets start again at 0. The topic is deleted by its id, after the cluster has
    confirmed that chaosk created it. It is created again once no broker knows it any more and ``pause`` is over. The
    step takes once the topic has another id, every broker knows it with all replicas in sync, and every leader serves
    it.

    For the rules, the deleted topic's records are no longer owed, and the new topic's are. A group that goes on at an
    offset of the deleted topic, and so skips the first records of the new one, is a violation.

    If chaosk dies in between, the host of the broker with the lowest id creates the topic by Kafka's own tool.
    """

    lasting: ClassVar[bool] = False
    harmless: ClassVar[bool] = True
    configured: ClassVar[Mapping[str, str]] = MappingProxyType({"delete.topic.enable": "true"})
    example: ClassVar[str] = """\
at: 10s
recreate_topic: {topic: orders, pause: 5s}
"""

    topic: str
    """The topic, one of the scenario's."""
    pause: Annotated[Duration, Field(ge=0.0, le=600.0)] = 1.0
    """Pause from when the last broker has forgotten the topic to its creation."""

    def remakes(self) -> tuple[str, ...]:
        """Return the topic."""
        return (self.topic,)

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """Yield the topic's replicas."""
        yield same_topic(self.topic)

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require the tool on the host that keeps the undo; raises StepError if the tool could not log in."""
        yield Fact(says=f"Kafka's own tool is on {_keeper(site)}", query=topictool.fits(site.inventory, _keeper(site)))

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that chaosk created the topic, and that a host can create it again."""
        yield owned(self.topic)
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Delete the topic on all brokers, pause, create it again."""
        shape = self._shape(site)
        yield DeleteTopic(topic=self.topic, identity=shape.identity)
        yield Pause(seconds=self.pause)
        yield MakeTopic(shape=shape)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the topic exists, is in sync, and is chaosk's."""
        yield self._whole(site)
        yield owned(self.topic)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Create the topic if it does not exist; needed only after an interruption."""
        yield MakeTopic(shape=self._shape(site), back=True)
        yield Run(command=topictool.make(site.inventory, _keeper(site), self._shape(site)))

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the topic exists and is in sync, also by the host's own tool."""
        yield self._whole(site)
        query = topictool.is_there(site.inventory, _keeper(site), self._shape(site))
        yield Fact(says=f"{self.topic} is there", query=query, within=WITHIN)

    def _whole(self, site: Site) -> Fact:
        count = max(1, len(self._shape(site).replicas))
        says = f"{self.topic} has its {count} partitions, with leaders and all replicas in sync"
        return Fact(says=says, query=f"partition_count({self.topic}, {count})", within=WITHIN)

    def _shape(self, site: Site) -> TopicShape:
        """Return the topic's shape when the step fired; in a plan without a cluster only its name."""
        return site.topics.get(self.topic, TopicShape(topic=self.topic))


def _keeper(site: Site) -> str:
    """Return the host that keeps the undo; raises StepError if Kafka's tool could not log in from there."""
    if (why := brokertool.refused(site.inventory)) is not None:
        raise StepError(f"{site.entry}: {why}")
    return site.inventory.brokers[min(site.inventory.brokers)].host
