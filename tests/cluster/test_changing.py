"""Settings, quotas and partitions: what the cluster is asked, and how its answers are read."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chaosk.cluster import codes
from chaosk.cluster.add_partitions import add_partitions
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.entity_settings import configure, settings_of
from chaosk.cluster.log_start import log_start
from chaosk.cluster.views import ClusterView, PartitionView
from chaosk.core.errors import ClusterError, StepError
from chaosk.spec.contracts.step import AddPartitions
from chaosk.spec.entity import Entity, Settings

ORDERS = Entity(kind="topic", name="orders")


class Cluster:
    """Broker 2 is the controller; two partitions of two replicas on brokers 0 to 2; answers as it is told to."""

    def __init__(self, answer: Callable[[Any], Any], *, racks: bool = False, leader: int = 1) -> None:
        """``answer``: to each request; ``leader``: of every partition."""
        self.answer = answer
        self.racks = racks
        self.leader = leader
        self.asked: list[tuple[int, Any]] = []

    def controller(self) -> int:
        """Broker 2."""
        return 2

    def ask_settings(self, broker: int, request: Any) -> Any:
        """Answer, as any other question."""
        return self.ask(broker, request)

    def ask(self, broker: int, request: Any, within: float | None = None) -> Any:
        """What was set."""
        self.asked.append((broker, request))
        return self.answer(request)

    def partitions(self, topic: str) -> tuple[PartitionView, ...]:
        """Two of them."""
        both = (0, 1)
        return tuple(
            PartitionView(topic=topic, partition=n, leader=self.leader, replicas=both, isr=both) for n in range(2)
        )

    def views(self, topics: object = ()) -> tuple[ClusterView, ...]:
        """Three brokers that agree."""
        return tuple(ClusterView(n, 2, (0, 1, 2), racks=self.racks, partitions=(), topic_ids={}) for n in range(3))

    def as_brokers(self) -> Brokers:
        """Itself."""
        return cast("Brokers", self)


def described(*settings: tuple[str, str | None, int], error: int = 0) -> SimpleNamespace:
    """A description: of each setting its name, and the value that a source has for it; another is in force.

    A setting of which it inherits has a value of the same source.
    """
    configs = []
    for name, value, source in settings:
        told = [SimpleNamespace(name=one, value=value, source=source) for one in (name, f"wider.{name}")]
        configs.append(SimpleNamespace(name=name, value="0", synonyms=told))
    return SimpleNamespace(results=[SimpleNamespace(error_code=error, configs=configs)])


@pytest.mark.parametrize(("entity", "own", "asked"), [(ORDERS, 1, 2), (Entity(kind="broker", name="0"), 2, 0)])
def test_only_what_was_set_there_is_told(entity: Entity, own: int, asked: int) -> None:
    """Not defaults, nor what a file or the default of all brokers says; a broker is asked itself.

    And what was set is told, not what is in force: the two differ for the moment in which a broker takes a change over.
    """
    cluster = Cluster(lambda _: described(("b", "2", own), ("file", "1", 4), ("all", "1", 3), ("default", "1", 5)))
    assert settings_of(cluster.as_brokers(), entity) == {"b": "2"}
    assert [broker for broker, _ in cluster.asked] == [asked]


def test_a_topic_that_is_gone_has_no_settings_but_an_error() -> None:
    """Nothing set and nothing known are different things."""
    with pytest.raises(ClusterError, match="topic orders: its configuration cannot be read: UNKNOWN_TOPIC"):
        settings_of(Cluster(lambda _: described(error=3)).as_brokers(), ORDERS)


def quota(entity: dict[str, str | None], **limits: float) -> SimpleNamespace:
    """An entry of what the cluster tells of quotas."""
    named = [SimpleNamespace(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    return SimpleNamespace(entity=named, values=[SimpleNamespace(key=key, value=one) for key, one in limits.items()])


def test_a_quota_is_that_of_just_these_clients() -> None:
    """Of the user and the client.id together, not of one of them alone; numbers as they are written in commands."""
    both = quota({"user": "ann", "client-id": "shop"}, producer_byte_rate=1024.0, request_percentage=12.5)
    entries = [quota({"client-id": "shop"}, producer_byte_rate=1.0), quota({"user": None}), both]
    cluster = Cluster(lambda _: SimpleNamespace(error_code=0, entries=entries))
    found = settings_of(cluster.as_brokers(), Entity(kind="clients", user="ann", client="shop"))
    assert found == {"producer_byte_rate": "1024", "request_percentage": "12.5"}
    ((broker, request),) = cluster.asked
    assert broker == 2
    assert [(one.entity_type, one.match) for one in request.components] == [("user", "ann"), ("client-id", "shop")]
    assert request.strict
    nobody = Cluster(lambda _: SimpleNamespace(error_code=0, entries=None))
    assert settings_of(nobody.as_brokers(), Entity(kind="clients", client="x")) == {}


def test_a_quota_that_may_not_be_read_is_an_error() -> None:
    """Never taken for none."""
    cluster = Cluster(lambda _: SimpleNamespace(error_code=31, error_message="no", entries=None))
    with pytest.raises(ClusterError, match=r"clients with client.id x: the quotas cannot be read: CLUSTER_AUTH"):
        settings_of(cluster.as_brokers(), Entity(kind="clients", client="x"))


def refusing(error: int, said: str | None = None) -> SimpleNamespace:
    """An answer about one thing."""
    results = [SimpleNamespace(error_code=error, error_message=said)]
    return SimpleNamespace(responses=results, results=results)


def test_settings_are_set_and_removed_in_one_request() -> None:
    """Incrementally: what is not named stays; the controller is asked."""
    cluster = Cluster(lambda _: refusing(codes.NONE))
    configure(cluster.as_brokers(), Settings(of=ORDERS, values={"a": "1", "b": None}))
    ((broker, request),) = cluster.asked
    (resource,) = request.resources
    assert (broker, resource.resource_type, resource.resource_name) == (2, 2, "orders")
    assert [(one.name, one.config_operation, one.value) for one in resource.configs] == [("a", 0, "1"), ("b", 1, None)]


def test_settings_that_are_refused_are_an_error() -> None:
    """With what the controller says of it."""
    cluster = Cluster(lambda _: refusing(40, "Unknown topic config name: a"))
    with pytest.raises(StepError, match=r"topic orders: its settings were not changed: INVALID_CONFIG .Unknown topic"):
        configure(cluster.as_brokers(), Settings(of=ORDERS, values={"a": "1"}))


@pytest.mark.parametrize(("racks", "placed"), [(False, [[2, 0], [0, 1]]), (True, None)])
def test_new_partitions_go_round_the_brokers(racks: bool, placed: list[list[int]] | None) -> None:  # noqa: FBT001
    """As they would have been placed from the start; where brokers have racks Kafka places them."""
    cluster = Cluster(lambda _: refusing(codes.NONE), racks=racks)
    add_partitions(cluster.as_brokers(), AddPartitions(topic="orders", count=4))
    (topic,) = cluster.asked[0][1].topics
    assert (topic.name, topic.count) == ("orders", 4)
    found = topic.assignments
    assert (None if found is None else [list(one.broker_ids) for one in found]) == placed


def test_partitions_that_are_refused_are_an_error() -> None:
    """None are taken away, for one."""
    cluster = Cluster(lambda _: refusing(37, "Topic currently has 2 partitions"))
    with pytest.raises(StepError, match=r"topic orders: no partitions were added: INVALID_PARTITIONS .Topic currently"):
        add_partitions(cluster.as_brokers(), AddPartitions(topic="orders", count=2))


def starts(offset: int, error: int = 0) -> SimpleNamespace:
    """Where partition 1 begins."""
    partition = SimpleNamespace(partition_index=1, offset=offset, error_code=error)
    return SimpleNamespace(topics=[SimpleNamespace(name="orders", partitions=[partition])])


def test_the_leader_tells_where_a_log_begins() -> None:
    """And nobody else; a leader that does not tell, none, or no such partition is an error."""
    cluster = Cluster(lambda _: starts(77))
    assert log_start(cluster.as_brokers(), "orders", 1) == 77
    assert [broker for broker, _ in cluster.asked] == [1]
    with pytest.raises(ClusterError, match="no partition 5"):
        log_start(cluster.as_brokers(), "orders", 5)
    with pytest.raises(ClusterError, match="orders-1: no leader"):
        log_start(Cluster(lambda _: starts(77), leader=-1).as_brokers(), "orders", 1)
    with pytest.raises(ClusterError, match="its leader did not report"):
        log_start(Cluster(lambda _: starts(77, codes.NOT_LEADER_OR_FOLLOWER)).as_brokers(), "orders", 1)
