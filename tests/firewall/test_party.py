"""What each side of a cut is: addresses, doors, and that nobody is cut from itself."""

from __future__ import annotations

import pytest
from sample_inventory import on_hosts

from chaosk.core.errors import StepError
from chaosk.hosts.firewall.party import SELF, Door, host_addresses, others, parties, party, refuse_overlap
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory

from .conftest import PROBES, broker, host, listener, zookeeper


def test_a_host_is_all_that_runs_on_it(inventory: Inventory) -> None:
    """Whole, with the doors of its broker and its ZooKeeper node."""
    found = party(inventory, host(1))
    assert found.whole
    assert (found.host, found.addresses) == ("node1", ("198.18.0.11",))
    assert {door.port for door in found.doors} == {9092, 9093, 2181, 2888, 3888}


def test_a_broker_is_its_listeners_ports(inventory: Inventory) -> None:
    """Not whole: only its ports on its host."""
    found = party(inventory, broker(1))
    assert not found.whole
    assert found.doors == (Door(9092), Door(9093))
    assert found.addresses == ("198.18.0.12",)


def test_a_zookeeper_node_is_its_three_ports(inventory: Inventory) -> None:
    """Client, quorum and election port."""
    assert party(inventory, zookeeper(2)).doors == (Door(2181), Door(2888), Door(3888))


def test_a_listener_is_one_port_on_one_address(inventory: Inventory) -> None:
    """As it is advertised."""
    assert party(inventory, listener("REPLICATION", 2)).doors == (Door(9093, "198.18.0.13"),)


def test_all_probes_are_one_party(inventory: Inventory) -> None:
    """They share a machine, whose address the host itself puts in."""
    every = parties(inventory, (PROBES, Node(kind="probe", id="writer")))
    assert len(every) == 1
    assert every[0].addresses == (SELF,)
    assert every[0].doors == ()


@pytest.mark.parametrize(
    ("caller", "called", "calls"),
    [
        (broker(0), zookeeper(1), True),
        (zookeeper(1), broker(0), False),
        (broker(0), broker(1), True),
        (listener("CLIENT", 0), broker(1), False),
        (PROBES, broker(0), True),
        (host(1), broker(1), True),
        (zookeeper(1), zookeeper(2), True),
    ],
)
def test_who_connects_to_whom(inventory: Inventory, caller: Node, called: Node, calls: bool) -> None:  # noqa: FBT001
    """A listener opens no connections, and a ZooKeeper node none to brokers."""
    assert party(inventory, caller).calls(party(inventory, called)) is calls


def test_a_host_is_known_by_every_address_of_its_listeners() -> None:
    """A broker behind a second network card is reached there."""
    two_cards = on_hosts("10.0.0.1", "10.0.0.2").model_dump(exclude_defaults=True)
    two_cards["brokers"][0]["listeners"]["CLIENT"]["address"] = "kafka1.example"
    assert host_addresses(Inventory.model_validate(two_cards), "node1") == ("10.0.0.1", "kafka1.example")


def test_the_others_are_all_servers_that_are_not_in_the_group(inventory: Inventory) -> None:
    """Also the one beside it on the same host, but nothing of a whole host that is in the group."""
    beside = others(inventory, (broker(0),))
    brokers = [("broker", "node2"), ("broker", "node3")]
    assert [(p.kind, p.host) for p in beside] == [*brokers, *(("zookeeper", f"node{n}") for n in (1, 2, 3))]
    assert {p.host for p in others(inventory, (host(1), broker(1)))} == {"node2", "node3"}
    assert ("broker", "node1") not in [(p.kind, p.host) for p in others(inventory, (listener("CLIENT", 0),))]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (host(1), host(1)),
        (host(1), broker(0)),
        (zookeeper(1), host(1)),
        (broker(0), listener("CLIENT", 0)),
        (PROBES, Node(kind="probe", id="writer")),
        (broker(2), broker(2)),
    ],
)
def test_nothing_is_cut_from_itself(a: Node, b: Node) -> None:
    """Groups that share a node, or a part of one, are refused, whichever way round."""
    for one, two in ((a, b), (b, a)):
        with pytest.raises(StepError, match="both sides of the cut"):
            refuse_overlap((host(3), one), (two,))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (host(1), host(2)),
        (broker(0), zookeeper(1)),
        (broker(0), listener("CLIENT", 1)),
        (PROBES, host(1)),
        (listener("CLIENT", 0), listener("REPLICATION", 0)),
    ],
)
def test_groups_that_have_nothing_in_common_are_fine(a: Node, b: Node) -> None:
    """Processes on one host, and listeners of one broker, are different things."""
    refuse_overlap((a,), (b,))
