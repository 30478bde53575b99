"""Conditions: yes or no, and what was seen, for clusters whose state is known."""

from __future__ import annotations

import socket

import pytest
from fake_live import FakeLive, inventory, kraft_inventory, state

from chaosk.core.errors import ClusterError, UsageError
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.expression import conditions, parse_condition, render
from chaosk.spec.inventory import Inventory, Listener


def ask(text: str, live: FakeLive | None = None) -> Answer:
    """The answer to a condition."""
    return parse_condition(text).ask(live or FakeLive(), inventory())


def reader(lag: int | None, *, running: bool = True) -> FakeLive:
    """A cluster with one consumer."""
    return FakeLive(probes={"reader": ProbeState(probe="reader", kind="consume", running=running, lag=lag)})


SHRUNK = FakeLive(states=(state(0, 0, (0, 1, 2)), state(1, 2, (1, 2, 0), (2, 0))))
LEADERLESS = FakeLive(states=(state(0, -1, (0, 1, 2), (0,)),))

HOLDS = [
    ("isr_full(orders)", FakeLive(), "orders: 3 partitions, all replicas in sync"),
    ("leader_elected(orders)", SHRUNK, "each with a leader that is alive"),
    ("leader_elected(orders, 0, 2)", FakeLive(answering=(0, 2)), "orders: 2 partitions"),
    ("preferred_leaders(orders, 0)", SHRUNK, "orders: 1 partitions"),
    ("preferred_leaders(orders)", FakeLive(), "each led by its preferred leader"),
    ("assigned(orders, 1, 1, 2, 0)", FakeLive(), "orders: 1 partitions, on 1,2,0 and in sync"),
    ("assigned(orders, all, 0, 1, 2)", FakeLive(states=(state(0, 0, (0, 1, 2)),)), "on 0,1,2 and in sync"),
    ("reassigning(orders)", FakeLive(moving=(1,)), "orders: partitions being reassigned: 1"),
    ("reassigning(orders, 0, 1)", FakeLive(moving=(0, 1, 2)), "being reassigned: 0,1,2"),
    ("log_begins(orders, 1, 0)", FakeLive(), "orders-1: its log begins at 0"),
    ("log_begins(orders, 1, 7)", FakeLive(begins=7), "orders-1: its log begins at 7"),
    ("own_topic(orders)", FakeLive(), "orders was made by chaosk"),
    ("partition_count(orders, 3)", FakeLive(), "orders: 3 partitions, all replicas in sync"),
    ("broker_up(2)", FakeLive(), "broker 2 answers and is alive"),
    ("replicas_in_sync(1)", FakeLive(), "broker 1 is in sync with 3 partitions"),
    ("replicas_in_sync(2)", SHRUNK, "broker 2 is in sync with 2 partitions"),
    ("zookeeper_up(1)", FakeLive(), "ZooKeeper 1: follower"),
    ("zookeeper_quorum", FakeLive(), "2 leader"),
    ("zookeeper_quorum", FakeLive(modes={1: None, 2: "leader", 3: "follower"}), "1 does not serve"),
    ("zookeeper_quorum", FakeLive(modes={1: "standalone"}), "1 standalone"),
    ("caught_up(reader)", reader(0), "0 records behind"),
    ("caught_up(reader, 5)", reader(5), "5 records behind"),
]
FAILS = [
    ("isr_full(orders)", SHRUNK, "orders-1: ISR 2,0 of 1,2,0"),
    ("isr_full(orders)", LEADERLESS, "orders-0: no leader"),
    ("replicas_in_sync(1)", SHRUNK, "broker 1 is not in sync with orders-1 (ISR 2,0)"),
    ("leader_elected(orders)", LEADERLESS, "orders-0: no leader"),
    ("leader_elected(orders)", FakeLive(alive=(1, 2)), "orders-0: its leader, broker 0, is not alive"),
    ("leader_elected(orders)", FakeLive(answering=(0, 2)), "orders-1: its leader, broker 1, does not answer"),
    ("preferred_leaders(orders)", SHRUNK, "orders-1: led by broker 2, preferred is 1"),
    ("preferred_leaders(orders)", LEADERLESS, "orders-0: no leader, preferred is 0"),
    ("assigned(orders, 1, 2, 1, 0)", FakeLive(), "orders-1: on 1,2,0"),
    ("assigned(orders, all, 0, 1, 2)", FakeLive(), "orders-1: on 1,2,0; orders-2: on 2,0,1"),
    ("assigned(orders, 1, 1, 2, 0)", SHRUNK, "orders-1: ISR 2,0"),
    ("assigned(orders, 1, 1, 2)", FakeLive(), "orders-1: on 1,2,0"),
    ("reassigning(orders)", FakeLive(), "orders: partitions being reassigned: none"),
    ("reassigning(orders, 0, 1)", FakeLive(moving=(1,)), "being reassigned: 1"),
    ("log_begins(orders, 1, 8)", FakeLive(begins=7), "orders-1: its log begins at 7"),
    ("own_topic(orders)", FakeLive(own=()), "orders is not known to be made by chaosk"),
    ("partition_count(orders, 4)", FakeLive(), "orders: 3 partitions"),
    ("partition_count(orders, 2)", SHRUNK, "orders-1: ISR 2,0 of 1,2,0"),
    ("broker_up(2)", FakeLive(answering=(0, 1)), "broker 2 does not answer"),
    ("broker_up(2)", FakeLive(alive=(0, 1)), "answers, and the cluster does not hold it to be alive"),
    ("zookeeper_up(1)", FakeLive(modes={1: None, 2: "leader", 3: "follower"}), "does not serve"),
    ("zookeeper_quorum", FakeLive(modes={1: None, 2: "leader", 3: None}), "1 does not serve"),
    ("zookeeper_quorum", FakeLive(modes={1: "follower", 2: None, 3: "follower"}), "2 does not serve"),
    ("zookeeper_quorum", FakeLive(modes={1: "leader", 2: "leader", 3: "follower"}), "1 leader, 2 leader"),
    ("caught_up(reader)", reader(1), "1 records behind"),
    ("caught_up(reader, 5)", reader(6), "6 records behind"),
    ("caught_up(reader)", reader(0, running=False), "not running"),
]


@pytest.mark.parametrize(("text", "live", "seen"), HOLDS)
def test_holds(text: str, live: FakeLive, seen: str) -> None:
    """The condition holds, and says by what."""
    answer = ask(text, live)
    assert answer.holds
    assert seen in answer.seen


@pytest.mark.parametrize(("text", "live", "seen"), FAILS)
def test_does_not_hold(text: str, live: FakeLive, seen: str) -> None:
    """The condition does not hold, and says what is in its way."""
    answer = ask(text, live)
    assert not answer.holds
    assert seen in answer.seen


@pytest.mark.parametrize("text", ["isr_full(orders)", "leader_elected(orders)", "preferred_leaders(orders)"])
def test_a_silent_cluster_is_an_error(text: str) -> None:
    """Nobody to ask is not the same as no."""
    with pytest.raises(ClusterError, match="no broker answers"):
        ask(text, FakeLive(silent=True))


def test_a_lag_that_is_not_known_is_an_error() -> None:
    """A consumer that holds no partition is neither behind nor at the end."""
    with pytest.raises(ClusterError, match="how far it is behind is not known"):
        ask("caught_up(reader)", reader(None))


def test_a_silent_cluster_has_no_broker_up() -> None:
    """A broker of a cluster that does not answer is not up: this is asked after a kill of all of them."""
    assert not ask("broker_up(0)", FakeLive(silent=True)).holds


@pytest.mark.parametrize("text", ["leader_elected(orders, 7)", "preferred_leaders(orders, 0, 7)"])
def test_refuses_a_partition_that_is_not_there(text: str) -> None:
    """A partition that the topic does not have is an error, not one that is fine."""
    with pytest.raises(ClusterError, match="has no partition 7"):
        ask(text)


@pytest.mark.parametrize("text", ["broker_up(9)", "zookeeper_up(9)"])
def test_refuses_an_id_that_the_inventory_lacks(text: str) -> None:
    """A node that does not exist can never come up: waiting for it would be a mistake that shows late."""
    with pytest.raises(UsageError, match="the inventory has no such"):
        ask(text)


def test_refuses_a_quorum_without_zookeeper() -> None:
    """A cluster without ZooKeeper has no ZooKeeper quorum to wait for."""
    with pytest.raises(UsageError, match="no ZooKeeper nodes"):
        parse_condition("zookeeper_quorum").ask(FakeLive(modes={}), inventory(3, 0))


def test_names_a_few_partitions_of_many() -> None:
    """An answer about a wide topic stays readable."""
    wide = FakeLive(states=tuple(state(n, 0, (0, 1), (0,)) for n in range(100)))
    seen = ask("isr_full(orders)", wide).seen
    assert seen.count("ISR") == 5
    assert seen.endswith("and 95 more")


def test_examples_are_what_they_say() -> None:
    """The example of every condition parses, to that kind, and its spelling begins with its name."""
    for name, kind in conditions().items():
        value = parse_condition(kind.example)
        assert isinstance(value, kind)
        assert parse_condition(render(value)) == value
        assert kind.spelling.startswith(name)


@pytest.mark.parametrize(
    ("text", "roles", "holds", "seen"),
    [
        ("controller_quorum", {101: "leader", 102: "follower", 103: None}, True, "102 follower, 103 takes no part"),
        ("controller_quorum", {101: "leader", 102: None, 103: None}, False, "101 leader, 102 takes no part"),
        ("controller_quorum", {101: "follower", 102: "follower", 103: "follower"}, False, "101 follower"),
        ("controller_quorum", {101: None, 102: None, 103: None}, False, "101 takes no part"),
        ("controller_up(101)", {101: "follower"}, True, "controller 101: follower"),
        ("controller_up(101)", {101: None}, False, "controller 101: takes no part in the quorum"),
    ],
)
def test_the_quorum_of_controllers(text: str, roles: dict[int, str | None], holds: bool, seen: str) -> None:  # noqa: FBT001
    """Most take part, and one leads; or one of them does."""
    answer = parse_condition(text).ask(FakeLive(roles=roles), kraft_inventory())
    assert answer.holds is holds
    assert seen in answer.seen


@pytest.mark.parametrize(("text", "says"), [("controller_quorum", "has no quorum"), ("controller_up(101)", "no such")])
def test_there_are_no_controllers_with_zookeeper(text: str, says: str) -> None:
    """Nothing to wait for."""
    with pytest.raises(UsageError, match=says):
        ask(text)


def listening(port: int) -> Inventory:
    """Broker 0 with its listener for clients on this machine."""
    found = inventory()
    listeners = {"CLIENT": Listener(address="kafka.example", port=port)}
    broker = found.brokers[0].model_copy(update={"listeners": listeners})
    return found.model_copy(update={"brokers": {**found.brokers, 0: broker}})


def test_a_listener_that_can_be_connected_to() -> None:
    """A port that somebody serves, the same one once nobody does, a name that leads nowhere, and no such listener."""
    live = FakeLive(leads={"kafka.example": ("127.0.0.1",)})
    with socket.create_server(("127.0.0.1", 0)) as door:
        there = listening(door.getsockname()[1])
        assert parse_condition("listener_up(0, CLIENT)").ask(live, there).holds
        assert not parse_condition("not(listener_up(0, CLIENT))").ask(live, there).holds
    answer = parse_condition("listener_up(0, CLIENT)").ask(live, there)
    assert (answer.holds, "Connection refused" in answer.seen) == (False, True)
    with pytest.raises(ClusterError, match=r"kafka\.example leads nowhere"):
        parse_condition("not(listener_up(0, CLIENT))").ask(FakeLive(), there)
    with pytest.raises(UsageError, match="no such listener"):
        parse_condition("listener_up(0, OTHER)").ask(live, there)
