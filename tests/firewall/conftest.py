"""A cluster of three hosts, a broker and a ZooKeeper node on each; machines with a packet filter."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_inventory import INVENTORY

from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory

from .machine import FOREIGN, FOREIGN_NFT, KINDS, Machine


@pytest.fixture(scope="session")
def inventory() -> Inventory:
    """Three co-located hosts."""
    return INVENTORY


@pytest.fixture(params=KINDS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    """A machine with rules of its own."""
    namespace = tmp_path / "net"
    namespace.touch()
    if "legacy" in request.param and not shutil.which("xtables-legacy-multi"):
        pytest.skip("no iptables of the kind legacy")
    subprocess.run(["unshare", f"--net={namespace}", "ip", "link", "set", "lo", "up"], check=True)
    here = Machine(namespace, request.param, tmp_path)
    assert here.sh("iptables-restore && ip6tables -A INPUT -s fe80::/10 -j ACCEPT", stdin=FOREIGN).returncode == 0
    assert here.sh("nft -f -", stdin=FOREIGN_NFT).returncode == 0
    yield here
    subprocess.run(["umount", namespace], check=True)


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
