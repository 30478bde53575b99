"""Delete a topic under its clients, and make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.core.units import Duration
from chaosk.hosts.commands import brokertool, topictool
from chaosk.spec.contracts.step import Deed, DeleteTopic, Fact, MakeTopic, Pause, Run, Site, Step
from chaosk.spec.harm import Harm
from chaosk.spec.topic_shape import TopicShape
from chaosk.steps._partitions import owned, same_topic

WITHIN = 30.0
"""Seconds until the partitions have leaders, and all replicas in sync."""


class RecreateTopic(Step):
    """Delete a topic and make it again as it was: the same name, partitions, replicas and settings, another topic.

    Its records cannot be had back, and offsets begin again at 0. It is deleted by its id, and not before the cluster
    has confirmed that chaosk made it; once no broker knows it any more, and ``pause`` is over, it is made again. It
    takes once the topic has another id, every broker knows it with all replicas in sync, and every leader serves it.

    What the rules make of it: the deleted topic's records are owed to nobody any more, the new one's are, and a group
    that goes on at an offset of the deleted topic, so that it passes the new one's first records, is a violation.

    If chaosk dies in between, the host of the broker with the lowest id makes the topic again by Kafka's own tool.
    """

    lasting: ClassVar[bool] = False
    configured: ClassVar[Mapping[str, str]] = MappingProxyType({"delete.topic.enable": "true"})
    example: ClassVar[str] = """\
at: 10s
recreate_topic: {topic: orders, pause: 5s}
"""

    topic: str
    """The topic, one of the scenario's."""
    pause: Annotated[Duration, Field(ge=0.0, le=600.0)] = 1.0
    """How long there is no topic, from when the last broker has forgotten it."""

    def targets(self) -> tuple[str, ...]:
        """None: the controller is asked, whoever it is."""
        return ()

    def remakes(self) -> tuple[str, ...]:
        """That topic."""
        return (self.topic,)

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: every server goes on, and nobody else's topic is touched."""
        yield from ()

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """The topic's replicas."""
        yield same_topic(self.topic)

    def suits(self, site: Site) -> Iterator[Fact]:
        """The host that could make it again has the tool; raises StepError where that could not log in."""
        yield Fact(says=f"Kafka's own tool is on {_keeper(site)}", query=topictool.fits(site.inventory, _keeper(site)))

    def before(self, site: Site) -> Iterator[Fact]:
        """It is chaosk's own topic, and a host could make it again."""
        yield owned(self.topic)
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Deleted, seen gone from every broker, made again."""
        shape = self._shape(site)
        yield DeleteTopic(topic=self.topic, identity=shape.identity)
        yield Pause(seconds=self.pause)
        yield MakeTopic(shape=shape)

    def verify(self, site: Site) -> Iterator[Fact]:
        """It is there, whole, and chaosk's."""
        yield self._whole(site)
        yield owned(self.topic)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Make it if it is not there: there is something to do only if it broke off half-way."""
        yield MakeTopic(shape=self._shape(site), back=True)
        yield Run(command=topictool.make(site.inventory, _keeper(site), self._shape(site)))

    def healed(self, site: Site) -> Iterator[Fact]:
        """It is there, whole; the host can tell as well."""
        yield self._whole(site)
        query = topictool.is_there(site.inventory, _keeper(site), self._shape(site))
        yield Fact(says=f"{self.topic} is there", query=query, within=WITHIN)

    def _whole(self, site: Site) -> Fact:
        count = max(1, len(self._shape(site).replicas))
        says = f"{self.topic} has its {count} partitions, with leaders and all replicas in sync"
        return Fact(says=says, query=f"partition_count({self.topic}, {count})", within=WITHIN)

    def _shape(self, site: Site) -> TopicShape:
        """As it was when the step fired; of a plan that asked no cluster the name alone."""
        return site.topics.get(self.topic, TopicShape(topic=self.topic))


def _keeper(site: Site) -> str:
    """The host that keeps the undo; raises StepError where Kafka's tool could not log in from there."""
    if (why := brokertool.refused(site.inventory)) is not None:
        raise StepError(f"{site.entry}: {why}")
    return site.inventory.brokers[min(site.inventory.brokers)].host
