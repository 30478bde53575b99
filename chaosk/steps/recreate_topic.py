"""Delete a topic under its clients, and create it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.core.units import Duration
from chaosk.hosts.commands import brokertool, topictool
from chaosk.spec.contracts.step import DeleteTopic, Fact, MakeTopic, Pause, Run, Site
from chaosk.spec.topic_shape import TopicShape
from chaosk.steps._partitions import TopicStep, owned
from chaosk.steps._phases import Phases

WITHIN = 30.0
"""Time-out in seconds until the partitions have leaders and all replicas in sync."""


class RecreateTopic(TopicStep):
    """Delete a topic and create a new one with the same name, partitions, replicas and settings.

    Its records are gone for good, and offsets start again at 0. The topic is deleted by its id, after the cluster has
    confirmed that chaosk created it. It is created again once no broker knows it any more and ``pause`` is over. The
    step takes once the topic has another id, every broker knows it with all replicas in sync, and every leader serves
    it.

    For the rules, the deleted topic's records are no longer owed, and the new topic's are. A group that goes on at an
    offset of the deleted topic, and so skips the first records of the new one, is a violation.

    If chaosk dies in between, the host of the broker with the lowest id creates the topic by Kafka's own tool.
    """

    harmless: ClassVar[bool] = True
    configured: ClassVar[Mapping[str, str]] = MappingProxyType({"delete.topic.enable": "true"})
    example: ClassVar[str] = """\
at: 10s
recreate_topic: {topic: orders, pause: 5s}
"""

    pause: Annotated[Duration, Field(ge=0.0, le=600.0)] = 1.0
    """Pause from when the last broker has forgotten the topic to its creation."""

    def remakes(self) -> tuple[str, ...]:
        """Return the topic."""
        return (self.topic,)

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require the tool on the host that keeps the undo; raises StepError if the tool could not log in."""
        yield Fact(says=f"Kafka's own tool is on {_keeper(site)}", query=topictool.fits(site.inventory, _keeper(site)))

    def phases(self, site: Site) -> Phases:
        """Delete the topic on all brokers, pause, create it again.

        The undo, which is needed only after an interruption, creates it if it does not exist; the host's own tool can.
        """
        shape, keeper = self._shape(site), _keeper(site)
        there = topictool.is_there(site.inventory, keeper, shape)
        return Phases(
            before=[owned(self.topic), *self.suits(site)],
            inject=[
                DeleteTopic(topic=self.topic, identity=shape.identity),
                Pause(seconds=self.pause),
                MakeTopic(shape=shape),
            ],
            verify=[self._whole(site), owned(self.topic)],
            undo=[MakeTopic(shape=shape, back=True), Run(command=topictool.make(site.inventory, keeper, shape))],
            healed=[self._whole(site), Fact(says=f"{self.topic} is there", query=there, within=WITHIN)],
        )

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
