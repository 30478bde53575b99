"""zookeepers_on: the ZooKeeper nodes that share hosts with another target."""

from __future__ import annotations

from random import Random

import pytest
from fake_live import FakeLive, inventory, state

from chaosk.spec.contracts.target import Scene
from chaosk.spec.expression import parse_target


def names(text: str, live: FakeLive | None = None, zookeepers: int = 3) -> list[str]:
    """The nodes of an expression as they are shown to people."""
    scene = Scene(inventory(zookeepers=zookeepers), live or FakeLive(), Random(1))  # noqa: S311 - repeatable
    return [str(node) for node in parse_target(text).resolve(scene)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zookeepers_on(broker 1)", ["zookeeper 2 on node2"]),
        ("zookeepers_on(leader(orders, 2))", ["zookeeper 3 on node3"]),
        ("zookeepers_on(host node1)", ["zookeeper 1 on node1"]),
        ("zookeepers_on(brokers)", ["zookeeper 1 on node1", "zookeeper 2 on node2", "zookeeper 3 on node3"]),
        ("zookeepers_on(zookeeper leader)", ["zookeeper 2 on node2"]),
    ],
)
def test_nodes_on_the_hosts_of_another_target(text: str, expected: list[str]) -> None:
    """Whatever kind of node is named: its host decides."""
    assert names(text) == expected


def test_it_follows_the_role() -> None:
    """Where leadership moves, so does what shares the leader's host."""
    moved = FakeLive(states=(state(0, 2, (0, 1, 2), (1, 2)),))
    assert names("zookeepers_on(leader(orders, 0))", moved) == ["zookeeper 3 on node3"]


def test_nothing_where_no_zookeeper_runs() -> None:
    """A host without a ZooKeeper node has none, and probes have no host at all."""
    assert names("zookeepers_on(broker 2)", zookeepers=1) == []
    assert names("zookeepers_on(probes)", zookeepers=1) == []
