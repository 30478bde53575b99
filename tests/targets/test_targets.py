"""Targets: what each expression names in a cluster whose state is known."""

from __future__ import annotations

from random import Random

import pytest
from fake_live import FakeLive, inventory, kraft_inventory, state
from hypothesis import given
from hypothesis import strategies as st

from chaosk.core.errors import ChaoskError, ClusterError, UsageError
from chaosk.spec.contracts.target import Node, Scene
from chaosk.spec.expression import parse_target, render, targets
from chaosk.spec.inventory import Inventory


def resolve(text: str, live: FakeLive | None = None, place: Inventory | None = None, seed: int = 1) -> tuple[Node, ...]:
    """The nodes of an expression."""
    scene = Scene(place or inventory(), live or FakeLive(), Random(seed))  # noqa: S311 - repeatable, not secret
    return parse_target(text).resolve(scene)


def names(text: str, live: FakeLive | None = None, seed: int = 1) -> list[str]:
    """The nodes of an expression as they are shown to people."""
    return [str(node) for node in resolve(text, live, seed=seed)]


CUT_OFF = FakeLive(states=(state(0, 2, (1, 0, 2), (2, 0)), state(1, -1, (1,), ())))
"""Partition 0 lost its preferred leader, 1 has no leader."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("broker 2", ["broker 2 on node3"]),
        ("broker(0)", ["broker 0 on node1"]),
        ("rack(b)", ["broker 1 on node2"]),
        ("brokers", ["broker 0 on node1", "broker 1 on node2", "broker 2 on node3"]),
        ("host node2", ["host node2"]),
        ("hosts", ["host node1", "host node2", "host node3"]),
        ("zookeepers", ["zookeeper 1 on node1", "zookeeper 2 on node2", "zookeeper 3 on node3"]),
        ("zookeeper 3", ["zookeeper 3 on node3"]),
        ("zookeeper leader", ["zookeeper 2 on node2"]),
        ("zookeeper follower", ["zookeeper 1 on node1"]),
        ("zookeeper followers", ["zookeeper 1 on node1", "zookeeper 3 on node3"]),
        ("leader(orders, 1)", ["broker 1 on node2"]),
        ("follower(orders, 1)", ["broker 2 on node3"]),
        ("followers(orders, 1)", ["broker 2 on node3", "broker 0 on node1"]),
        ("replicas(orders, 1)", ["broker 1 on node2", "broker 2 on node3", "broker 0 on node1"]),
        ("isr(orders, 1)", ["broker 0 on node1", "broker 1 on node2", "broker 2 on node3"]),
        ("controller", ["broker 0 on node1"]),
        ("listener(CLIENT, broker 2)", ["listener CLIENT/2 on node3"]),
        (
            "listener(CLIENT)",
            ["listener CLIENT/0 on node1", "listener CLIENT/1 on node2", "listener CLIENT/2 on node3"],
        ),
        ("listener(REPLICATION, controller)", ["listener REPLICATION/0 on node1"]),
        ("host(leader(orders, 2))", ["host node3"]),
        ("host(zookeeper leader)", ["host node2"]),
        ("host(controller)", ["host node1"]),
        ("host(replicas(orders, 1))", ["host node2", "host node3", "host node1"]),
        ("probe writer", ["probe writer"]),
        ("probes", ["probe *"]),
        ("everyone else", ["everyone else"]),
        ("apart_from(controller)", ["broker 1 on node2", "broker 2 on node3"]),
        ("apart_from(controller, zookeeper leader)", ["broker 2 on node3"]),
        ("apart_from(coordinator(nobody))", ["broker 0 on node1", "broker 1 on node2", "broker 2 on node3"]),
        ("random(3)", ["broker 0 on node1", "broker 1 on node2", "broker 2 on node3"]),
    ],
)
def test_names_the_nodes(text: str, expected: list[str]) -> None:
    """Every kind of target names exactly the nodes that its documentation says, in that order."""
    assert names(text) == expected


def test_roles_follow_the_cluster() -> None:
    """Roles are asked of the cluster as it is, not as it was assigned."""
    assert names("leader(orders, 0)", CUT_OFF) == ["broker 2 on node3"]
    assert names("isr(orders, 0)", CUT_OFF) == ["broker 0 on node1", "broker 2 on node3"]
    both = FakeLive(coordinators={"billing": 1}, transactions={"billing": 2})
    assert names("coordinator(billing)", both) == ["broker 1 on node2"]
    assert names("transaction_coordinator(billing)", both) == ["broker 2 on node3"]


def test_follower_is_next_in_line() -> None:
    """The follower is the first in-sync one in the order of the assignment, and only without any the first at all."""
    assert names("follower(orders, 0)", CUT_OFF) == ["broker 0 on node1"]
    alone = FakeLive(states=(state(0, 2, (1, 0, 2), (2,)),))
    assert names("follower(orders, 0)", alone) == ["broker 1 on node2"]


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("leader(orders, 1)", CUT_OFF),
        ("host(leader(orders, 1))", CUT_OFF),
        ("listener(CLIENT, leader(orders, 1))", CUT_OFF),
        ("controller", FakeLive(control=None)),
        ("coordinator(readers)", FakeLive()),
        ("transaction_coordinator(readers)", FakeLive(coordinators={"readers": 1})),
        ("zookeeper leader", FakeLive(modes={1: "follower", 2: None, 3: None})),
        ("zookeeper followers", FakeLive(modes={1: None, 2: None, 3: None})),
        ("follower(orders, 0)", FakeLive(states=(state(0, 0, (0,)),))),
        ("host(probes)", FakeLive()),
        ("apart_from(brokers)", FakeLive()),
        ("apart_from(controller)", FakeLive(alive=(0,))),
    ],
)
def test_names_nothing_where_the_role_is_vacant(text: str, live: FakeLive) -> None:
    """A role that nobody has resolves to nothing, so the run can say so instead of hitting somebody else."""
    assert resolve(text, live) == ()


@pytest.mark.parametrize(
    "text",
    [
        "leader(orders, 0)", "follower(orders, 0)", "followers(orders, 0)", "replicas(orders, 0)", "isr(orders, 0)",
        "controller", "coordinator(readers)", "host(controller)", "random(1, isr(orders, 0))",
        "transaction_coordinator(billing)", "apart_from(host node1)", "apart_from(controller)",
    ],
)  # fmt: skip
def test_says_when_the_cluster_cannot_tell(text: str) -> None:
    """A cluster that does not answer is an error, never an empty set: nothing was found out."""
    with pytest.raises(ClusterError, match="no broker answers"):
        resolve(text, FakeLive(silent=True))


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("broker 7", UsageError, "broker 7: the inventory has no such broker; write one of 0, 1, 2"),
        ("zookeeper 7", UsageError, "zookeeper 7: .* write one of 1, 2, 3"),
        ("host node7", UsageError, "host node7: .* did you mean"),
        ("listener(CLEINT)", UsageError, "no broker has it; did you mean 'CLIENT'"),
        ("rack(z)", UsageError, "no broker is in it; racks are a, b, c"),
        ("listener(CLIENT, zookeepers)", UsageError, "only brokers have listeners"),
        ("leader(orders, 7)", ClusterError, "has no partition 7"),
        ("leader(order, 0)", ClusterError, "no such topic"),
        ("random(4)", ClusterError, "that set has 3 nodes"),
    ],
)
def test_refuses_what_is_not_there(text: str, error: type[ChaoskError], words: str) -> None:
    """What a user named and the inventory or cluster does not have is refused with what to write instead."""
    with pytest.raises(error, match=words):
        resolve(text)


def test_refuses_a_broker_that_the_inventory_lacks() -> None:
    """A leader that the inventory does not know means that it describes another cluster."""
    with pytest.raises(ClusterError, match="names broker 9, and the inventory has no such broker"):
        resolve("leader(orders, 0)", FakeLive(states=(state(0, 9, (9, 1)),)))


def test_a_target_of_a_hosts_name_is_the_target() -> None:
    """`host(controller)` means the controller's host even where a host has that name."""
    place = inventory()
    named = place.model_copy(update={"hosts": {**place.hosts, "controller": place.hosts["node1"]}})
    assert [node.id for node in resolve("host(controller)", FakeLive(control=1), named)] == ["node2"]


@given(seed=st.integers(), count=st.integers(1, 5), brokers=st.integers(1, 9))
def test_draws_are_repeatable_and_fair(seed: int, count: int, brokers: int) -> None:
    """The same seed draws the same nodes, as many as were asked for, each of the set, none twice, in its order."""
    place = inventory(brokers, 1)
    if count > brokers:
        with pytest.raises(ClusterError):
            resolve(f"random({count})", place=place, seed=seed)
        return
    drawn = resolve(f"random({count})", place=place, seed=seed)
    every = resolve("brokers", place=place)
    assert drawn == resolve(f"random({count})", place=place, seed=seed)
    assert len(set(drawn)) == count
    assert list(drawn) == [node for node in every if node in drawn]


def test_every_node_can_be_drawn() -> None:
    """Over many seeds each broker is drawn: the lot is not fixed."""
    assert {resolve("random(1)", seed=seed)[0].id for seed in range(50)} == {"0", "1", "2"}


@given(seed=st.integers(), size=st.integers(1, 9))
def test_a_minority_leaves_most(seed: int, size: int) -> None:
    """More than half of the set is always left, and no larger minority would leave that."""
    drawn = resolve("minority(brokers)", place=inventory(size, 1), seed=seed)
    left = size - len(drawn)
    assert 2 * left > size
    assert 2 * (left - 1) <= size


def test_examples_are_what_they_say() -> None:
    """The example of every target parses, to that kind, and its spelling begins with its name."""
    for name, kind in targets().items():
        value = parse_target(kind.example)
        assert isinstance(value, kind)
        assert parse_target(render(value)) == value
        assert kind.spelling.replace(" ", "_").startswith(name)


def test_static_targets_ask_nobody() -> None:
    """What calls itself static resolves while the cluster is silent."""
    static = [kind for kind in targets().values() if kind.static]
    assert len(static) >= 6
    for kind in static:
        cluster = kraft_inventory() if kind.needs is not None and kind.needs.mode == "kraft" else inventory()
        scene = Scene(cluster, FakeLive(silent=True, modes={}), Random(0))  # noqa: S311 - as above
        assert parse_target(kind.example).resolve(scene)


QUORUM = FakeLive(control=102, roles={101: "follower", 102: "leader", 103: "follower"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("controller", ["controller 102 on node2"]),
        ("controller leader", ["controller 102 on node2"]),
        ("controller 103", ["controller 103 on node3"]),
        ("controller follower", ["controller 101 on node1"]),
        ("controller followers", ["controller 101 on node1", "controller 103 on node3"]),
        ("controllers", ["controller 101 on node1", "controller 102 on node2", "controller 103 on node3"]),
        ("host(controller)", ["host node2"]),
        ("zookeepers", []),
    ],
)
def test_a_quorum(text: str, expected: list[str]) -> None:
    """In KRaft the controller is whoever leads the quorum, and the others have a role, too."""
    assert [str(node) for node in resolve(text, QUORUM, kraft_inventory())] == expected


def test_a_controller_that_is_a_broker_as_well_is_that_broker() -> None:
    """One process, one node: whatever takes it takes both roles."""
    live = FakeLive(control=1, roles={0: "follower", 1: "leader", 2: None})
    place = kraft_inventory(combined=3, controllers=0)
    assert [str(node) for node in resolve("controller", live, place)] == ["broker 1 on node2"]
    assert [str(node) for node in resolve("controller followers", live, place)] == ["broker 0 on node1"]


def test_controllers_that_are_not_there() -> None:
    """None leads; an id nobody has; one that votes without being in the inventory; and none but one with ZooKeeper."""
    assert resolve("controller", FakeLive(control=None), kraft_inventory()) == ()
    with pytest.raises(
        UsageError, match="controller 0: the inventory has no such controller; write one of 101, 102, 103"
    ):
        resolve("controller 0", QUORUM, kraft_inventory())
    with pytest.raises(
        ClusterError, match="the cluster names controller 104, and the inventory has no such controller"
    ):
        resolve("controller", FakeLive(control=104), kraft_inventory())
    with pytest.raises(UsageError, match="with ZooKeeper there is one controller, a broker; write controller"):
        resolve("controller followers")
