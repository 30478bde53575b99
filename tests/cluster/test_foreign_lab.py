"""The topics of others on a real cluster: whose they are, how they stand, and what they need."""

from __future__ import annotations

import time
from typing import Any

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from chaosk.cluster.foreign import Foreign
from chaosk.core.errors import ClusterError
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.long]


def make(cluster: Any, name: str, least: str | None) -> None:
    """A topic that somebody makes by hand; one of that name may still be about to go, after the last test."""
    admin = AdminClient({"bootstrap.servers": cluster.inventory.bootstrap_servers()})
    config = {} if least is None else {"min.insync.replicas": least}
    end = time.monotonic() + 60
    while (error := admin.create_topics([NewTopic(name, 2, 3, config=config)])[name].exception(20)) is not None:
        # "marked for deletion" is not said before the controller has heard of it
        assert error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS, error
        assert time.monotonic() < end, error
        time.sleep(0.2)
    cluster.wait(f"isr_full({name})")


def test_topics_that_are_not_the_scenarios(cluster: Any) -> None:
    """Made by hand: with its own need, or the cluster's. Those that chaosk made, now or before, are not among them."""
    cluster.prepare(orders=Topic(partitions=1), former=Topic(partitions=1))
    make(cluster, "payments", "3")
    make(cluster, "audit", None)
    foreign = Foreign(cluster.brokers, ["orders"])
    found = {(one.state.topic, one.state.partition): one for one in foreign.partitions()}
    topics = {topic for topic, _ in found if not topic.startswith("__")}
    assert topics == {"payments", "audit"}
    assert "__consumer_offsets" in {topic for topic, _ in found}
    assert found["payments", 1].least == 3
    assert found["audit", 0].least == foreign.least("audit") < 3
    assert sorted(found["payments", 0].state.replicas) == [0, 1, 2]
    assert [foreign.is_foreign(name) for name in ("orders", "former", "payments", "new")] == [False, False, True, True]


def test_a_topic_that_is_made_during_the_run(cluster: Any) -> None:
    """It is somebody's from the start, and its need is asked for."""
    cluster.prepare(orders=Topic(partitions=1))
    foreign = Foreign(cluster.brokers, ["orders"])
    foreign.partitions()
    make(cluster, "payments", "2")
    assert foreign.is_foreign("payments")
    assert foreign.least("payments") == 2
    assert "payments" in {one.state.topic for one in foreign.partitions()}


def test_how_they_stand_now(cluster: Any) -> None:
    """With a broker dead its replicas are out of sync."""
    cluster.prepare(orders=Topic(partitions=1))
    make(cluster, "payments", "2")
    foreign = Foreign(cluster.brokers, ["orders"])
    end = time.monotonic() + 30
    with cluster.killed(2):
        while any(2 in one.state.isr for one in foreign.partitions() if one.state.topic == "payments"):
            assert time.monotonic() < end, "broker 2 is dead, and still in sync"
            time.sleep(0.1)


def test_where_nobody_answers(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was seen last is told, and nothing where nothing was seen yet; a need that is not known is Kafka's own."""

    def silent(topics: object = ()) -> None:
        raise ClusterError("no broker answers")

    make(cluster, "payments", "2")
    foreign = Foreign(cluster.brokers, ["orders"])
    last = foreign.partitions()
    monkeypatch.setattr(cluster.brokers, "views", silent)
    assert foreign.partitions() == last
    assert foreign.least("payments") == 2
    assert foreign.least("new") == 1
    with pytest.raises(ClusterError):
        Foreign(cluster.brokers, ["orders"]).partitions()
    monkeypatch.undo()
