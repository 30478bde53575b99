"""A topic deleted and made again as it was: only chaosk's own, and another one afterwards."""

from __future__ import annotations

import pytest
from fake_kafka import FakeKafka, FakeTopic

from chaosk.cluster import codes, serving, topic_admin
from chaosk.cluster.operate import operate
from chaosk.cluster.owner import own_topics
from chaosk.cluster.remake import shape_of
from chaosk.cluster.topics import prepare
from chaosk.core.errors import ClusterError, StepError
from chaosk.spec.contracts.step import DeleteTopic, MakeTopic
from chaosk.spec.scenario import Topic
from chaosk.spec.topic_shape import TopicShape


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_admin, "_PAUSE", 0.001)
    monkeypatch.setattr(topic_admin, "WITHIN", 0.3)
    monkeypatch.setattr(serving, "WITHIN", 0.3)


@pytest.fixture
def kafka() -> FakeKafka:
    """A cluster on which chaosk made ``orders``."""
    made = FakeKafka()
    prepare(made.as_brokers(), {"orders": Topic(partitions=2, config={"min.insync.replicas": 2})})
    return made


def as_it_is(kafka: FakeKafka) -> TopicShape:
    """The topic's shape."""
    topic = kafka.topics["orders"]
    return TopicShape(
        topic="orders", identity=topic.identity, replicas=tuple(topic.replicas), config=dict(topic.config)
    )


def delete(kafka: FakeKafka, shape: TopicShape) -> None:
    """Delete it."""
    operate(kafka.as_brokers(), DeleteTopic(topic="orders", identity=shape.identity))


def test_it_is_another_topic_of_the_same_shape(kafka: FakeKafka) -> None:
    """Replicas that were moved stay where they were moved to; it is chaosk's as before, by its new id."""
    kafka.topics["orders"].replicas = [(2, 1, 0), (0, 1, 2)]
    before = as_it_is(kafka)
    delete(kafka, before)
    assert "orders" not in kafka.topics
    operate(kafka.as_brokers(), MakeTopic(shape=before))
    after = as_it_is(kafka)
    assert after.model_copy(update={"identity": before.identity}) == before
    assert after.identity != before.identity
    assert own_topics(kafka.as_brokers(), {"orders": after.identity}) == {"orders"}


def test_a_topic_of_somebody_else_is_not_deleted(kafka: FakeKafka) -> None:
    """It was made anew under the same name, or never was chaosk's."""
    kafka.topics["orders"] = FakeTopic([(0, 1, 2)])
    with pytest.raises(StepError, match="it has no mark that chaosk created it, so it is not deleted"):
        delete(kafka, as_it_is(kafka))
    assert "orders" in kafka.topics


def test_what_the_controller_refuses_is_an_error(kafka: FakeKafka) -> None:
    """To delete it, and to make it."""
    before = as_it_is(kafka)
    kafka.refuses["orders"] = codes.TOPIC_ALREADY_EXISTS + 1
    with pytest.raises(StepError, match="not deleted: topic orders"):
        delete(kafka, before)
    with pytest.raises(StepError, match="not made: topic orders"):
        operate(kafka.as_brokers(), MakeTopic(shape=before))


def test_one_that_gets_no_leader_is_not_made(kafka: FakeKafka) -> None:
    """The followers do not come into sync in time."""
    before = as_it_is(kafka)
    delete(kafka, before)
    kafka.slow = 10_000
    with pytest.raises(ClusterError, match="not every broker knows them with all replicas in sync"):
        operate(kafka.as_brokers(), MakeTopic(shape=before))


def test_the_undo_leaves_a_topic_that_is_there(kafka: FakeKafka) -> None:
    """Whoever made it; and makes one where there is none."""
    before = as_it_is(kafka)
    operate(kafka.as_brokers(), MakeTopic(shape=before, back=True))
    assert as_it_is(kafka) == before
    delete(kafka, before)
    operate(kafka.as_brokers(), MakeTopic(shape=before, back=True))
    assert as_it_is(kafka).identity != before.identity


def test_the_shape_of_a_topic_is_asked(kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    """Id and replicas from the brokers, settings from the controller."""
    monkeypatch.setattr(kafka, "partitions", kafka._parts, raising=False)
    assert shape_of(kafka.as_brokers(), "orders") == as_it_is(kafka)
