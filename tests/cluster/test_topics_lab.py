"""A scenario's topics on a real cluster: made, made anew, left alone, refused."""

from __future__ import annotations

import time
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from chaosk.cluster.committed_offsets import CommittedOffset, commit, committed
from chaosk.cluster.offsets import end_offsets_request, offsets_by_partition
from chaosk.cluster.owner import own_topics
from chaosk.core.errors import PreflightError
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.long]

SHAPE = Topic(partitions=3, config={"min.insync.replicas": 2})


def by_hand(cluster: Any, name: str, partitions: int = 3, **config: str) -> None:
    """Make a topic as somebody else would."""
    admin = AdminClient({"bootstrap.servers": cluster.inventory.bootstrap_servers(), "log_level": 0})
    settings = {"min.insync.replicas": "2", **{key.replace("_", "."): value for key, value in config.items()}}
    deadline = time.monotonic() + 10
    while True:
        try:
            admin.create_topics([NewTopic(name, partitions, 3, config=settings)])[name].result()
            break
        except KafkaException:  # the one of the test before is still marked for deletion
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    cluster.wait(f"isr_full({name})")


def write(cluster: Any, topic: str, records: int = 10) -> None:
    """Write a few records."""
    producer = Producer({"bootstrap.servers": cluster.inventory.bootstrap_servers(), "log_level": 0})
    for number in range(records):
        producer.produce(topic, b"x", partition=number % 3)
    assert producer.flush(10) == 0


def ends(cluster: Any, topic: str) -> list[int]:
    """The end offset of each partition."""
    found = {}
    for one in cluster.brokers.partitions(topic):
        _, latest = end_offsets_request({topic: [one.partition]})
        found.update(offsets_by_partition(cluster.brokers.ask(one.leader, latest)))
    return [found[key] for key in sorted(found)]


def topic_id(cluster: Any, topic: str) -> str:
    """The topic's id, as soon as any broker knows it: a full ISR is no promise that all of them do."""
    deadline = time.monotonic() + 10
    while True:
        ids = [one.topic_ids[topic] for one in cluster.brokers.views([topic]) if topic in one.topic_ids]
        if ids or time.monotonic() > deadline:
            return str(ids[0])
        time.sleep(0.1)


def test_makes_what_is_missing(cluster: Any) -> None:
    """Every broker knows the topic, with the shape that was asked for, led round robin; and it is chaosk's."""
    assert cluster.prepare(orders=SHAPE) == ("topic orders: created",)
    for one in cluster.brokers.views(["orders"]):
        assert [(p.leader, p.replicas, len(p.isr)) for p in one.partitions] == [
            (0, (0, 1, 2), 3), (1, (1, 2, 0), 3), (2, (2, 0, 1), 3),
        ]  # fmt: skip
    assert own_topics(cluster.brokers, {"orders": topic_id(cluster, "orders")}) == {"orders"}
    said = cluster.run("node1", "/opt/kafka/bin/kafka-topics.sh", "--bootstrap-server", "198.18.0.11:9092",
                       "--describe", "--topic", "orders")  # fmt: skip
    assert "PartitionCount: 3" in said
    assert "min.insync.replicas=2" in said


def test_a_second_run_finds_it_empty(cluster: Any) -> None:
    """Records and committed offsets of the run before are gone, quickly, and leaders are where they were."""
    cluster.prepare(orders=SHAPE)
    write(cluster, "orders")
    commit(cluster.brokers, "readers", [CommittedOffset("orders", 0, 3, "")])
    before = topic_id(cluster, "orders")
    began = time.monotonic()
    assert cluster.prepare(orders=SHAPE) == ("topic orders: recreated",)
    assert time.monotonic() - began < 15
    assert topic_id(cluster, "orders") != before
    assert ends(cluster, "orders") == [0, 0, 0]
    assert [one.leader for one in cluster.brokers.partitions("orders")] == [0, 1, 2]
    assert [one.offset for one in committed(cluster.brokers, "readers", {"orders": [0]})] == [None]


def test_its_own_topic_may_change_its_shape(cluster: Any) -> None:
    """Two scenarios that use one name in two shapes run one after the other: chaosk made both."""
    cluster.prepare(orders=SHAPE)
    cluster.prepare(orders=Topic(partitions=1, replication_factor=1))
    assert [one.replicas for one in cluster.brokers.partitions("orders")] == [(0,)]


def test_leaves_somebody_elses_records_alone(cluster: Any) -> None:
    """A topic of the right shape that holds records is refused, and nothing is touched: not even the other topics."""
    by_hand(cluster, "theirs")
    write(cluster, "theirs")
    before = topic_id(cluster, "theirs")
    with pytest.raises(PreflightError, match="topic theirs: it holds records, and has no mark that chaosk created it"):
        cluster.prepare(orders=SHAPE, theirs=SHAPE)
    assert topic_id(cluster, "theirs") == before
    assert sum(ends(cluster, "theirs")) == 10
    assert "orders" not in cluster.brokers.views(["orders"])[0].topic_ids


def test_refuses_another_shape_with_every_difference(cluster: Any) -> None:
    """A topic that somebody made in another shape is refused with what differs and what to do."""
    by_hand(cluster, "theirs", partitions=2, retention_ms="1000")
    with pytest.raises(PreflightError) as caught:
        cluster.prepare(theirs=SHAPE.model_copy(update={"config": {"min.insync.replicas": 1}}))
    assert str(caught.value) == (
        "topic theirs: it exists with other settings: 2 partitions, not 3; min.insync.replicas=2, not 1; "
        "retention.ms=1000, which the scenario does not set; "
        "describe it as it is in the scenario, delete it, or use another name"
    )


def test_uses_an_empty_topic_as_it_is(cluster: Any) -> None:
    """A topic that somebody prepared for chaosk is used; from then on it is chaosk's."""
    by_hand(cluster, "theirs")
    before = topic_id(cluster, "theirs")
    assert cluster.prepare(theirs=SHAPE) == ("topic theirs: exists and is empty: used as it is",)
    assert topic_id(cluster, "theirs") == before
    write(cluster, "theirs")
    assert cluster.prepare(theirs=SHAPE) == ("topic theirs: recreated",)


def test_a_topic_made_anew_by_somebody_else_is_theirs(cluster: Any) -> None:
    """The proof names the topic's id: the same name again, by somebody else, is not chaosk's."""
    cluster.prepare(orders=SHAPE)
    admin = AdminClient({"bootstrap.servers": cluster.inventory.bootstrap_servers(), "log_level": 0})
    for future in admin.delete_topics(["orders"]).values():
        future.result()
    deadline = time.monotonic() + 10
    while cluster.brokers.views(["orders"])[0].topic_ids and time.monotonic() < deadline:
        time.sleep(0.1)
    by_hand(cluster, "orders")
    write(cluster, "orders")
    with pytest.raises(PreflightError, match="has no mark that chaosk created it"):
        cluster.prepare(orders=SHAPE)


def test_says_what_cannot_be(cluster: Any) -> None:
    """More replicas than brokers, and settings that Kafka does not take, are one clear error each."""
    with pytest.raises(PreflightError, match="topic wide: replication_factor 5, and only 3 brokers are alive"):
        cluster.prepare(wide=Topic(replication_factor=5))
    with pytest.raises(PreflightError, match="not made: topic odd: INVALID_CONFIG"):
        cluster.prepare(odd=Topic(config={"no.such.setting": 1}))
