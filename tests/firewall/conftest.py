"""A cluster of three hosts, a broker and a ZooKeeper node on each."""

from __future__ import annotations

import pytest

from chaosk.inventory import Inventory
from chaosk.targets._contract import Node

SERVICE = {"start": ["/start"], "stop": ["/stop"], "pid_file": "/run/pid"}


def make(*addresses: str) -> Inventory:
    """Hosts node1.. at these addresses; broker 0.. and ZooKeeper 1.. on them, listeners CLIENT and REPLICATION."""
    hosts = {f"node{n}": {"address": address} for n, address in enumerate(addresses, 1)}
    brokers = {
        n: {
            "host": f"node{n + 1}",
            "service": SERVICE,
            "listeners": {
                "CLIENT": {"address": address, "port": 9092},
                "REPLICATION": {"address": address, "port": 9093, "clients": False},
            },
        }
        for n, address in enumerate(addresses)
    }
    zookeepers = {n: {"host": f"node{n}", "service": SERVICE} for n in range(1, len(addresses) + 1)}
    return Inventory.model_validate({"name": "lab", "hosts": hosts, "brokers": brokers, "zookeepers": zookeepers})


@pytest.fixture(scope="session")
def inventory() -> Inventory:
    """Three co-located hosts."""
    return make("198.18.0.11", "198.18.0.12", "198.18.0.13")


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
