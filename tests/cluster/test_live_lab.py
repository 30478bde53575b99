"""Live facts, targets and conditions on a real cluster: whole, with a dead broker, with a frozen one."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from chaosk.cluster.advertised import advertised
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.elect import elect
from chaosk.cluster.health import unhealthy
from chaosk.cluster.snapshot import Snapshot, take
from chaosk.cluster.views import metadata_request
from chaosk.cluster.wire import PATIENCE
from chaosk.core.errors import StepError
from chaosk.run.preflight.cluster import listeners
from chaosk.spec.contracts.live import UnknownTopic
from chaosk.spec.contracts.step import Elect
from chaosk.spec.contracts.target import Scene
from chaosk.spec.expression import parse_condition, parse_target
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.long]

ORDERS = Topic(partitions=6, config={"min.insync.replicas": 2})


def quickest(ask: Callable[[], object]) -> float:
    """Seconds that the quickest of five takes: what else the machine does makes each of them slower, none quicker."""
    took = []
    for _ in range(5):
        began = time.monotonic()
        ask()
        took.append(time.monotonic() - began)
    return min(took)


def ids(cluster: Any, text: str) -> list[str]:
    """The ids of the nodes that a target names."""
    scene = Scene(cluster.inventory, cluster.live, Random(1))  # noqa: S311 - repeatable, not secret
    return [node.id for node in parse_target(text).resolve(scene)]


def holds(cluster: Any, text: str) -> bool:
    """Whether a condition holds."""
    return parse_condition(text).ask(cluster.live, cluster.inventory).holds


def test_two_brokers_under_each_others_names_are_told_apart(cluster: Any) -> None:
    """An inventory with the listeners of brokers 0 and 1 exchanged: each says which it is, on its own word."""
    settings, inventory = client_settings(cluster.inventory), cluster.inventory
    assert [one.is_broker for one in advertised(inventory, settings, PATIENCE)] == [None] * 3
    swapped = dict(inventory.brokers) | {0: inventory.brokers[1], 1: inventory.brokers[0]}
    wrong = inventory.model_copy(update={"brokers": swapped})
    found = advertised(wrong, settings, PATIENCE)
    assert [one.is_broker for one in found] == [1, 0, None]
    assert [one.state for one in listeners(found)] == ["bad", "bad", "ok"]
    assert "broker 1 answers there" in next(listeners(found)).seen


def test_every_target_and_condition_of_a_whole_cluster(cluster: Any) -> None:
    """Roles resolve to what the cluster itself says, and every condition of a whole cluster holds."""
    cluster.prepare(orders=ORDERS)
    assert [ids(cluster, f"leader(orders, {n})") for n in range(6)] == [[str(n % 3)] for n in range(6)]
    assert ids(cluster, "follower(orders, 1)") == ["2"]
    assert ids(cluster, "followers(orders, 1)") == ["2", "0"]
    assert ids(cluster, "replicas(orders, 1)") == ["1", "2", "0"]
    assert ids(cluster, "isr(orders, 1)") == ["0", "1", "2"]
    assert ids(cluster, "host(leader(orders, 2))") == ["node3"]
    assert ids(cluster, "controller") == [_controller_by_its_own_tool(cluster)]
    assert ids(cluster, "coordinator(readers)")[0] in ("0", "1", "2")
    assert _keeper_of_transactions(cluster, "billing") == ids(cluster, "transaction_coordinator(billing)")
    assert len(ids(cluster, "zookeeper leader")) == 1
    assert sorted(ids(cluster, "zookeeper followers") + ids(cluster, "zookeeper leader")) == ["1", "2", "3"]
    for text in (
        "isr_full(orders)", "leader_elected(orders)", "preferred_leaders(orders)", "zookeeper_quorum",
        "zookeeper_up(1)", "broker_up(0)", "broker_up(2)",
    ):  # fmt: skip
        assert holds(cluster, text), text
    assert unhealthy(cluster.live, cluster.inventory, ["orders"]) == ()
    with pytest.raises(UnknownTopic):
        cluster.live.partitions("never-made")


def _keeper_of_transactions(cluster: Any, name: str) -> list[str]:
    """Who leads the partition of the transaction log that Kafka keeps an id in: another way to the same fact.

    The first question for a coordinator makes that log where there is none yet.
    """
    end, number = time.monotonic() + 60, 0
    while not ids(cluster, f"transaction_coordinator({name})") and time.monotonic() < end:
        time.sleep(0.2)
    for letter in name:
        number = (31 * number + ord(letter)) & 0xFFFFFFFF
    count = len(cluster.live.partitions("__transaction_state"))
    return ids(cluster, f"leader(__transaction_state, {(number & 0x7FFFFFFF) % count})")


def _controller_by_its_own_tool(cluster: Any) -> str:
    """The controller as ZooKeeper holds it: another way to the same fact."""
    said = cluster.run("node1", "/opt/kafka/bin/zookeeper-shell.sh", "localhost:2181", "get", "/controller")
    return str(said.partition('"brokerid":')[2].partition(",")[0])


def test_a_dead_broker(cluster: Any) -> None:
    """Its leadership moves, the ISR shrinks, it is up no more; started again it comes back without leadership."""
    cluster.prepare(orders=ORDERS)
    before = take(cluster.brokers, cluster.live, ["orders"])
    with cluster.killed(1):
        assert not holds(cluster, "broker_up(1)")
        assert not cluster.live.broker_answers(1)
        cluster.wait("leader_elected(orders)")
        assert ids(cluster, "leader(orders, 1)") == ["2"]
        assert ids(cluster, "isr(orders, 1)") == ["0", "2"]
        assert not holds(cluster, "isr_full(orders)")
        assert not holds(cluster, "preferred_leaders(orders)")
        told = unhealthy(cluster.live, cluster.inventory, ["orders"])
        assert "broker 1 does not answer" in told
        assert "broker 1 is not alive to the cluster" in told
        assert "orders-1: replicas on 1 are not in sync" in told
        during = take(cluster.brokers, cluster.live, ["orders"])
        took = quickest(lambda: cluster.live.partitions("orders"))
        assert took < 0.5, "a dead broker refuses, and costs no time"
    assert holds(cluster, "isr_full(orders)")
    assert not holds(cluster, "preferred_leaders(orders)"), "leadership stays where it went"
    assert (before.brokers, during.brokers, during.answering) == ((0, 1, 2), (0, 2), (0, 2))
    assert during.partitions[1].leader_epoch > before.partitions[1].leader_epoch
    assert Snapshot.model_validate_json(during.model_dump_json()) == during


def test_an_election_brings_leadership_home(cluster: Any) -> None:
    """A preferred election moves what is away, says what needed none, and names what it cannot do."""
    cluster.prepare(orders=ORDERS)
    with cluster.killed(2):
        cluster.wait("leader_elected(orders)")
        with pytest.raises(StepError, match="orders-2: PREFERRED_LEADER_NOT_AVAILABLE"):
            elect(cluster.brokers, Elect(topic="orders", election="preferred"))
    done = elect(cluster.brokers, Elect(topic="orders", election="preferred"))
    assert [one.elected for one in done] == [False, False, True, False, False, True]
    cluster.wait("preferred_leaders(orders)", within=5)
    again = elect(cluster.brokers, Elect(topic="orders", partitions=(2,), election="preferred"))
    assert [(one.partition, one.elected) for one in again] == [(2, False)]
    with pytest.raises(StepError, match="orders-9: UNKNOWN_TOPIC_OR_PARTITION"):
        elect(cluster.brokers, Elect(topic="orders", partitions=(9,), election="unclean"))


def test_an_unclean_election(cluster: Any) -> None:
    """Without an in-sync replica left, a partition has no leader until an unclean election gives it one."""
    cluster.prepare(orders=Topic(partitions=1, replication_factor=2))
    with cluster.killed(1):
        deadline = time.monotonic() + 30
        while ids(cluster, "isr(orders, 0)") != ["0"] and time.monotonic() < deadline:
            time.sleep(0.1)
        with cluster.killed(0):
            cluster.start(1)
            assert ids(cluster, "leader(orders, 0)") == []
            assert not holds(cluster, "leader_elected(orders)")
            done = elect(cluster.brokers, Elect(topic="orders", partitions=(0,), election="unclean"))
            assert [one.elected for one in done] == [True]
            cluster.wait("leader_elected(orders)", within=5)
            assert ids(cluster, "leader(orders, 0)") == ["1"]


def test_a_frozen_broker(cluster: Any) -> None:
    """A broker that hangs does not answer, and no question to the cluster waits long for it."""
    cluster.prepare(orders=ORDERS)
    with cluster.frozen(0):
        assert not cluster.live.broker_answers(0)
        assert quickest(lambda: cluster.live.broker_answers(0)) < 1.5
        for ask in (cluster.live.controller, cluster.live.brokers, lambda: cluster.live.partitions("orders")):
            assert quickest(ask) < 1.0
        cluster.wait("leader_elected(orders)")
        assert ids(cluster, "leader(orders, 0)") == ["1"]
        assert ids(cluster, "controller") != ["0"]


def test_a_cut_off_broker_is_not_believed(cluster: Any) -> None:
    """A leader that is cut off from its peers still answers, and says that it leads: the cluster knows better."""
    cluster.prepare(orders=ORDERS)
    peers = ("198.18.0.11", "198.18.0.13")
    rules = [("INPUT", "-s", peer) for peer in peers] + [("OUTPUT", "-d", peer) for peer in peers]
    own_zookeeper = [("OUTPUT", "-d", "198.18.0.12", "-p", "tcp", "--dport", "2181")]
    for rule in rules + own_zookeeper:
        cluster.run("node2", "iptables", "-I", *rule, "-j", "DROP")
    try:
        cluster.wait("leader_elected(orders)")
        deadline = time.monotonic() + 30
        while ids(cluster, "leader(orders, 1)") != ["2"] and time.monotonic() < deadline:
            time.sleep(0.2)
        alone = cluster.brokers.ask(1, metadata_request(["orders"]))
        (mine,) = [one.leader_id for one in alone.topics[0].partitions if one.partition_index == 1]
        assert mine == 1, "it believes that it leads"
        assert cluster.live.broker_answers(1)
        assert ids(cluster, "leader(orders, 1)") == ["2"]
        assert not holds(cluster, "broker_up(1)")
    finally:
        for rule in rules + own_zookeeper:
            cluster.run("node2", "iptables", "-D", *rule, "-j", "DROP")
        cluster.whole()
