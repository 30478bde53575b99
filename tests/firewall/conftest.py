"""A cluster of three hosts, a broker and a ZooKeeper node on each."""

from __future__ import annotations

import pytest
from sample_inventory import INVENTORY

from chaosk.inventory import Inventory
from chaosk.targets._contract import Node


@pytest.fixture(scope="session")
def inventory() -> Inventory:
    """Three co-located hosts."""
    return INVENTORY


def host(number: int) -> Node:
    """Host node1, node2 or node3."""
    return Node(kind="host", id=f"node{number}", host=f"node{number}")


def broker(number: int) -> Node:
    """Broker 0, 1 or 2."""
    return Node(kind="broker", id=str(number), host=f"node{number + 1}")


def zookeeper(number: int) -> Node:
    """ZooKeeper node 1, 2 or 3."""
    return Node(kind="zookeeper", id=str(number), host=f"node{number}")


def listener(name: str, number: int) -> Node:
    """A listener of broker 0, 1 or 2."""
    return Node(kind="listener", id=f"{name}/{number}", host=f"node{number + 1}")


PROBES = Node(kind="probe", id="*")
EVERYONE = Node(kind="everyone_else", id="")
