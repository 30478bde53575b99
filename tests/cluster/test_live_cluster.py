"""The live facts as targets and conditions get them, from servers on loopback."""

from __future__ import annotations

import time
from typing import cast

import pytest
from fake_live import inventory
from fake_servers import answering, mock_cluster, server, silent, unused_port

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.cluster.snapshot import Snapshot, take
from chaosk.cluster.wire import Endpoint
from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.live import Live, ProbeState
from chaosk.spec.inventory import Host, Inventory, Listener

LEADER = b"Zookeeper version: 3.8.4\nMode: leader\n"


def at(brokers: dict[int, Endpoint], zookeepers: dict[int, Endpoint]) -> Inventory:
    """An inventory of servers that answer there."""
    place = inventory(1, 1)
    local = {"node1": Host(address="127.0.0.1")}
    listeners = {
        number: place.brokers[0].model_copy(
            update={"listeners": {"CLIENT": Listener(address=where.address, port=where.port)}}
        )
        for number, where in brokers.items()
    }
    nodes = {
        number: place.zookeepers[1].model_copy(update={"client_port": where.port})
        for number, where in zookeepers.items()
    }
    return place.model_copy(update={"hosts": local, "brokers": listeners, "zookeepers": nodes})


def probe(name: str) -> ProbeState:
    """Every probe runs."""
    return ProbeState(probe=name, kind="produce", running=True)


def nowhere() -> Endpoint:
    """Where nobody listens."""
    return Endpoint("", "127.0.0.1", unused_port())


def test_answers_all_that_may_be_asked() -> None:
    """Every question of the protocol has its answer from the servers themselves."""
    with (
        mock_cluster() as (producer, places),
        server(answering(LEADER)) as first,
        Brokers(where := at(places, {1: first, 2: nowhere()}), {}) as brokers,
    ):
        producer.produce("orders", b"x")
        producer.flush(5)
        live: Live = LiveCluster(where, brokers, probe)
        assert [one.partition for one in live.partitions("orders")] == [0, 1, 2, 3]
        assert live.brokers() == (1, 2, 3)
        assert live.coordinator("readers") in (1, 2, 3)
        assert live.transaction_coordinator("billing") in (1, 2, 3)
        assert [live.broker_answers(number) for number in places] == [True, True, True]
        assert live.zookeeper_modes() == {1: "leader", 2: None}
        assert live.probe("writer").probe == "writer"
        with pytest.raises(ClusterError, match="broker 9: the inventory has no such broker"):
            live.broker_answers(9)


def test_frozen_zookeepers_are_asked_side_by_side() -> None:
    """Three nodes that hang cost the time of one."""
    with server(silent) as one, server(silent) as two, server(silent) as three:
        where = at({1: nowhere()}, {1: one, 2: two, 3: three})
        live = LiveCluster(where, cast("Brokers", None), probe, timeout=4.0)
        began = time.monotonic()
        assert live.zookeeper_modes() == {1: None, 2: None, 3: None}
        assert time.monotonic() - began < 10


def test_a_snapshot_holds_it_all_and_travels_as_json() -> None:
    """Who answers, who is alive, roles and partitions; what is written is what is read."""
    with (
        mock_cluster(2) as (producer, places),
        server(answering(LEADER)) as node,
        Brokers(where := at({**places, 9: nowhere()}, {1: node}), {}) as brokers,
    ):
        producer.produce("orders", b"x")
        producer.flush(5)
        before = time.monotonic_ns()
        found = take(brokers, LiveCluster(where, brokers, probe), ["orders"])
    assert before <= found.at <= time.monotonic_ns()
    assert abs(found.wall - time.time_ns()) < 10e9
    assert (found.brokers, found.answering) == ((1, 2), (1, 2))
    assert found.zookeepers == {1: "leader"}
    assert [(one.topic, one.partition) for one in found.partitions] == [("orders", n) for n in range(4)]
    assert Snapshot.model_validate_json(found.model_dump_json()) == found


def test_a_snapshot_of_a_silent_cluster_is_an_error() -> None:
    """There is no state to write down where nobody answers."""
    where = at({1: nowhere()}, {})
    with Brokers(where, {}) as brokers, pytest.raises(ClusterError, match="no broker answers"):
        take(brokers, LiveCluster(where, brokers, probe), ["orders"])
