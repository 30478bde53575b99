"""What is wrong with a cluster, told before anything is broken in it."""

from __future__ import annotations

import pytest
from fake_live import FakeLive, inventory, kraft_inventory, state

from chaosk.cluster.health import unhealthy


def test_a_whole_cluster_has_no_complaints() -> None:
    """Nothing is told of a cluster that is as it should be; topics that do not exist yet are passed over."""
    assert unhealthy(FakeLive(), inventory(), ["orders", "not-there-yet"]) == ()


@pytest.mark.parametrize(
    ("live", "told"),
    [
        (FakeLive(answering=(0, 2)), ("broker 1 does not answer",)),
        (FakeLive(alive=(0, 1)), ("broker 2 is not alive to the cluster",)),
        (FakeLive(alive=(0, 1, 2, 3)), ("broker 3 is alive, and not in the inventory",)),
        (FakeLive(control=None), ("there is no controller",)),
        (FakeLive(states=(state(4, -1, (0, 1)),)), ("orders-4 has no leader",)),
        (FakeLive(states=(state(4, 0, (0, 1, 2), (0,)),)), ("orders-4: replicas on 1, 2 are not in sync",)),
        (FakeLive(modes={1: None, 2: "leader", 3: "follower"}), ("ZooKeeper 1 does not serve",)),
        (FakeLive(modes={1: "follower", 2: "follower", 3: "follower"}), ("0 ZooKeeper nodes lead, not one",)),
        (FakeLive(modes={1: "leader", 2: "leader", 3: "follower"}), ("2 ZooKeeper nodes lead, not one",)),
        (FakeLive(silent=True), ("no broker answers",)),
    ],
)
def test_tells_what_is_wrong(live: FakeLive, told: tuple[str, ...]) -> None:
    """Each thing that is wrong is told in a sentence, and nothing besides."""
    assert unhealthy(live, inventory(), ["orders"]) == told


def test_tells_everything_at_once() -> None:
    """Several things are told together, ZooKeeper's too where no broker answers."""
    live = FakeLive(silent=True, modes={1: None, 2: None, 3: None})
    assert len(unhealthy(live, inventory(), ["orders"])) == 5


def test_looks_at_kafkas_own_topics() -> None:
    """A group topic without its replicas is as bad as one of the scenario's."""
    offsets = state(0, 1, (1, 2), (1,)).model_copy(update={"topic": "__consumer_offsets"})
    assert unhealthy(FakeLive(states=(offsets,)), inventory()) == (
        "__consumer_offsets-0: replicas on 2 are not in sync",
    )


def test_a_cluster_without_zookeeper_is_not_missing_one() -> None:
    """A cluster of brokers alone has no ZooKeeper to complain about."""
    assert unhealthy(FakeLive(modes={}), inventory(3, 0), ["orders"]) == ()


def test_every_controller_takes_part() -> None:
    """One that does not, one that nobody knows, and a quorum that nobody leads, are each told of."""
    whole = {101: "leader", 102: "follower", 103: "follower"}
    assert unhealthy(FakeLive(modes={}, control=101, roles={**whole}), kraft_inventory()) == ()
    found = unhealthy(FakeLive(modes={}, control=None, roles={101: None, 104: "follower"}), kraft_inventory())
    assert "there is no controller" in found
    assert "controller 101 takes no part in the quorum" in found
    assert any("controller 104 votes, and is not in the inventory; add it" in one for one in found)
