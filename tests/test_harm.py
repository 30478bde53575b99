"""What each step takes from a cluster."""

from __future__ import annotations

import pytest
from fake_live import FakeLive, inventory

from chaosk.planning.resolve import aim
from chaosk.spec.contracts.target import Node
from chaosk.spec.harm import Harm, servers_of
from chaosk.spec.scenario import Entry


def harm(kind: str, **fields: object) -> list[str]:
    """In words, one for each moment: who is away, and who does not reach whom."""
    fault = aim(Entry.model_validate({"name": "x", kind: fields}), inventory(), FakeLive(), 1, "run")
    return [_told(one) for one in fault.harm]


def _told(one: Harm) -> str:
    pairs = ",".join(f"{a.kind[0]}{a.id}-{b.kind[0]}{b.id}" for a, b in one.severed)
    return ",".join(f"{node.kind[0]}{node.id}" for node in one.away) + pairs


@pytest.mark.parametrize("kind", ["kill_broker", "stop_broker", "pause_broker"])
def test_processes_that_are_down_or_frozen(kind: str) -> None:
    """All of them at once."""
    assert harm(kind, target="followers(orders, 0)") == ["b1,b2"]


def test_a_restart_is_one_at_a_time() -> None:
    """A moment for each."""
    assert harm("restart_zookeeper", target="zookeepers") == ["z1", "z2", "z3"]


def test_what_takes_nothing() -> None:
    """A start, an election, time, and whatever is done to a probe."""
    assert harm("start_broker", target="broker 1") == []
    assert harm("elect_leader", topic="orders") == []
    assert harm("wait", duration="1s") == []
    assert harm("kill_probe", probe="writer") == []


def test_a_host_that_is_cut_off_takes_all_that_runs_on_it() -> None:
    """From everyone else, in either order of the groups; from the clients alone it takes none."""
    assert harm("cut_network", between=["host(broker 1)", "everyone else"]) == ["b1,z2"]
    assert harm("cut_network", between=["everyone else", "host(broker 1)"]) == ["b1,z2"]
    assert harm("cut_network", between=["probes", "host(broker 1)"]) == [""]


def test_a_cut_between_groups_severs_pairs() -> None:
    """Of every server on one side with every one on the other; one way is no way."""
    both = harm("cut_network", between=["host node1", "host node2"])
    assert both == ["b0-b1,b0-z2,z1-b1,z1-z2"]
    assert harm("cut_network", between=["host node1", "host node2"], direction="in", ports=[9093]) == both


def test_listeners_for_clients_are_not_how_brokers_talk() -> None:
    """Where a broker has another listener for its peers, cutting the clients' one severs no brokers; else it does."""
    assert harm("cut_network", between=["listener(CLIENT, broker 0)", "host node2"]) == [""]
    assert harm("cut_network", between=["listener(REPLICATION, broker 0)", "host node2"]) == ["b0-b1,b0-z2"]
    assert harm("cut_network", between=["listener(CLIENT, broker 0)", "everyone else"]) == ["b0"]


def test_servers_of_nodes() -> None:
    """A host's, a listener's, their own; each once, and none of a probe or of everyone else."""
    nodes = (
        Node(kind="host", id="node1", host="node1"), Node(kind="broker", id="0", host="node1"),
        Node(kind="listener", id="CLIENT/2", host="node3"), Node(kind="probe", id="writer"),
        Node(kind="everyone_else", id=""),
    )  # fmt: skip
    assert [str(node) for node in servers_of(inventory(), nodes)] == [
        "broker 0 on node1",
        "broker 2 on node3",
        "zookeeper 1 on node1",
    ]
