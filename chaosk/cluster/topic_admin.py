"""Deletion and creation of topics through the controller, until every broker knows the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from kafka.protocol.admin import CreateTopicsRequest, DeleteTopicsRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.routed_requests import ask_controller
from chaosk.cluster.shape import placement
from chaosk.cluster.views import ClusterView, current
from chaosk.core.errors import ClusterError, PreflightError
from chaosk.spec.entity import spelled
from chaosk.spec.scenario import Topic
from chaosk.spec.topic_shape import TopicShape

WITHIN = 30.0
"""Time-out in seconds of each of deletion, creation and propagation."""
_PAUSE = 0.05
_TIMEOUT_MS = 10_000


def delete_topics(brokers: Brokers, ids: Mapping[str, str]) -> None:
    """Delete topics by id (by name), so that a recreated topic of the same name stays.

    Returns when no broker knows them any more; raises PreflightError if the controller refuses.
    """

    def request() -> DeleteTopicsRequest:
        topics = [DeleteTopicsRequest.DeleteTopicState(name=None, topic_id=UUID(one)) for one in ids.values()]
        return DeleteTopicsRequest(topics=topics, timeout_ms=_TIMEOUT_MS, version=6)

    def gone() -> bool:
        return not any(set(ids.values()) & set(one.topic_ids.values()) for one in brokers.views(list(ids)))

    if ids:
        answer = ask_controller(brokers, request, lambda answer: [one.error_code for one in answer.responses])
        _refuse("deleted", answer.responses)
        _wait(gone, f"topics {', '.join(ids)}: deleted, and some brokers still know them")


def create_topics(brokers: Brokers, topics: Mapping[str, Topic], alive: Sequence[int]) -> None:
    """Create topics, placed round robin over ``alive``, or by Kafka if that is empty.

    The request is repeated while ZooKeeper is still deleting a topic of the same name. Raises PreflightError if the
    controller refuses.
    """
    make = {name: _creatable(name, topic, placement(topic, alive) if alive else {}) for name, topic in topics.items()}
    _create(brokers, make)


def create_again(brokers: Brokers, shape: TopicShape) -> None:
    """Create a topic of a given shape, with the same placement; raises PreflightError if the controller refuses."""
    topic = Topic(partitions=len(shape.replicas), config=dict(shape.config))
    _create(brokers, {shape.topic: _creatable(shape.topic, topic, dict(enumerate(shape.replicas)))})


def _create(brokers: Brokers, topics: Mapping[str, CreateTopicsRequest.CreatableTopic]) -> None:
    end = time.monotonic() + WITHIN
    left = dict(topics)
    while left:
        results = _create_once(brokers, list(left.values()))
        busy = [one.name for one in results if one.error_code == codes.TOPIC_ALREADY_EXISTS and time.monotonic() < end]
        _refuse("made", [one for one in results if one.name not in busy])
        left = {name: left[name] for name in busy}
        time.sleep(_PAUSE if left else 0)


def wait_until_known(brokers: Brokers, topics: Mapping[str, Topic]) -> dict[str, str]:
    """Wait until every live broker knows every partition with a leader and a full ISR; return the ids by topic."""
    seen: list[ClusterView] = []

    def known() -> bool:
        views = brokers.views(sorted(topics))
        seen[:] = current(views)
        alive = set(seen[0].alive)
        return alive <= {one.asked for one in views} and all(_complete(one, topics) for one in views)

    _wait(known, f"topics {', '.join(topics)}: made, and not every broker knows them with all replicas in sync")
    return dict(seen[0].topic_ids)


def _create_once(brokers: Brokers, made: Sequence[CreateTopicsRequest.CreatableTopic]) -> list[Any]:
    answer = ask_controller(
        brokers,
        lambda: CreateTopicsRequest(topics=list(made), timeout_ms=_TIMEOUT_MS, version=7),
        lambda answer: [one.error_code for one in answer.topics],
    )
    return list(answer.topics)


def _creatable(name: str, topic: Topic, replicas: Mapping[int, Sequence[int]]) -> CreateTopicsRequest.CreatableTopic:
    kind = CreateTopicsRequest.CreatableTopic
    return kind(
        name=name,
        num_partitions=-1 if replicas else topic.partitions,
        replication_factor=-1 if replicas else topic.replication_factor,
        assignments=[
            kind.CreatableReplicaAssignment(partition_index=number, broker_ids=list(ids))
            for number, ids in replicas.items()
        ],
        configs=[kind.CreatableTopicConfig(name=key, value=spelled(value)) for key, value in topic.config.items()],
    )


def _complete(one: ClusterView, topics: Mapping[str, Topic]) -> bool:
    in_sync = [p for p in one.partitions if p.leader >= 0 and set(p.isr) == set(p.replicas)]
    return len(in_sync) == sum(topic.partitions for topic in topics.values())


def _refuse(what: str, results: Iterable[Any]) -> None:
    wrong = [one for one in results if one.error_code != codes.NONE]
    if wrong:
        told = "; ".join(f"topic {one.name}: {codes.error_name(one.error_code)}, {one.error_message}" for one in wrong)
        raise PreflightError(f"the controller refuses, not {what}: {told}")


def _wait(holds: Callable[[], bool], failure: str) -> None:
    end = time.monotonic() + WITHIN
    while not holds():
        if time.monotonic() > end:
            raise ClusterError(f"{failure} after {WITHIN:g} s")
        time.sleep(_PAUSE)
