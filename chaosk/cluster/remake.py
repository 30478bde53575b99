"""Deletion of a topic, and its recreation with the same shape."""

from __future__ import annotations

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.entity_settings import settings_of
from chaosk.cluster.owner import claim, own_topics
from chaosk.cluster.serving import wait_until_served
from chaosk.cluster.topic_admin import create_again, delete_topics, wait_until_known
from chaosk.cluster.views import current
from chaosk.core.errors import ClusterError, PreflightError, StepError
from chaosk.spec.contracts.step import DeleteTopic, MakeTopic
from chaosk.spec.entity import Entity
from chaosk.spec.scenario import Topic
from chaosk.spec.topic_shape import TopicShape


def shape_of(brokers: Brokers, topic: str) -> TopicShape:
    """Return a topic's shape; raises UnknownTopic if there is no such topic, ClusterError without an answer."""
    replicas = tuple(one.replicas for one in brokers.partitions(topic))
    config = settings_of(brokers, Entity(kind="topic", name=topic))
    identity = identity_of(brokers, topic)
    if identity is None:
        raise ClusterError(f"topic {topic}: no broker reports its id")
    return TopicShape(topic=topic, identity=identity, replicas=replicas, config=config)


def identity_of(brokers: Brokers, topic: str) -> str | None:
    """Return the id of the current topic with a name; None if there is none, ClusterError if no broker answers."""
    views = current(brokers.views([topic]))
    if not views:
        raise ClusterError(f"topic {topic}: no broker answers")
    return views[0].topic_ids.get(topic)


def delete_topic(brokers: Brokers, deed: DeleteTopic) -> None:
    """Delete a topic by its id, and return when no broker knows it any more.

    Raises StepError if chaosk did not make it or the controller refuses, ClusterError if some brokers still know it.
    """
    if deed.topic not in own_topics(brokers, {deed.topic: deed.identity}):
        raise StepError(f"topic {deed.topic}: it has no mark that chaosk created it, so it is not deleted")
    try:
        delete_topics(brokers, {deed.topic: deed.identity})
    except PreflightError as error:
        raise StepError(str(error)) from error


def make_topic(brokers: Brokers, deed: MakeTopic) -> str:
    """Recreate a deleted topic, and return its id when every broker knows it and every leader serves it.

    As an undo it leaves an existing topic unchanged, and records no ownership. Raises StepError if the controller
    refuses, or if the old topic is still there, ClusterError if it does not become whole.
    """
    shape = deed.shape
    there = identity_of(brokers, shape.topic) if deed.back else None
    if there is not None:
        return there
    try:
        create_again(brokers, shape)
        found = wait_until_known(brokers, {shape.topic: Topic(partitions=len(shape.replicas))})[shape.topic]
        if found == shape.identity:
            raise StepError(f"topic {shape.topic}: it has the id that it had, so it was not made again")
        claim(brokers, {shape.topic: found})
        wait_until_served(brokers, [shape.topic])
    except PreflightError as error:
        raise StepError(str(error)) from error
    return found
