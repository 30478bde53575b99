"""SSH is never among what a cut stops."""

from __future__ import annotations

import pytest
from fake_live import inventory

from chaosk.core.errors import StepError
from chaosk.hosts.firewall.party import ANYBODY, parties, refuse_ssh
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory

BROKER = Node(kind="broker", id="0", host="node1")
OTHER = Node(kind="broker", id="1", host="node2")


def with_ssh_at(port: int, host: str = "node1") -> Inventory:
    """The fake inventory with SSH of one host at another port."""
    cluster = inventory()
    hosts = {**cluster.hosts, host: cluster.hosts[host].model_copy(update={"port": port})}
    return cluster.model_copy(update={"hosts": hosts})


def test_a_listener_at_the_port_of_ssh() -> None:
    """Whether the whole broker or the listener alone is named, and on either side."""
    cluster = with_ssh_at(9092)
    listener = Node(kind="listener", id="CLIENT/0", host="node1")
    for node in (BROKER, listener, Node(kind="host", id="node1", host="node1")):
        with pytest.raises(StepError, match="listens at port 9092, which is SSH there"):
            refuse_ssh(cluster, (ANYBODY, *parties(cluster, [OTHER, node])))


def test_the_port_of_another_hosts_ssh_is_free() -> None:
    """What matters is the host that the rules stand on."""
    cluster = with_ssh_at(9092, "node3")
    refuse_ssh(cluster, parties(cluster, [BROKER, OTHER]))


def test_probes_and_anybody_have_no_port() -> None:
    """They serve nothing, so nothing is refused."""
    refuse_ssh(inventory(), (ANYBODY, *parties(inventory(), [Node(kind="probe", id="writer"), BROKER])))
